/** Tables made from SHOW CREATE TABLE are the same tables: nasty names, comments, defaults, indexes, partitions (cases 26, 31). */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addIndexStatements, createStatement } from "../../src/shared/columns/create-statement.js";
import { BYTE_LITERALS, TEXT_LITERALS } from "../../src/shared/columns/literals.js";
import { LoadWriter } from "../../src/shared/columns/load-writer.js";
import { listTables, readTableDefinition } from "../../src/shared/columns/read-table.js";
import { sameShape } from "../../src/shared/columns/same-shape.js";
import { whyNoKey } from "../../src/shared/columns/choose-key.js";
import { textRow } from "../../src/shared/columns/text-row.js";
import { expressionsMayWarn, isAboutExpression } from "../../src/shared/columns/write-warnings.js";
import { copiedColumns, type TableDefinition } from "../../src/shared/columns/table-definition.js";
import { chunkSelect } from "../../src/shared/keys/chunk-select.js";
import { identifier, qualified, sql, utf8Sql, type ByteSql } from "../../src/shared/mysql/bytes.js";
import type { MysqlSession } from "../../src/shared/mysql/mysql-session.js";
import { testSchema, textRows, type TestSchema } from "./columns-server.js";

let server: TestSchema;
beforeAll(async () => {
  server = await testSchema();
});
afterAll(() => server[Symbol.asyncDispose]());

async function made(session: MysqlSession, name: string, body: string): Promise<TableDefinition> {
  await session.run(TEXT_LITERALS);
  await session.run(sql`CREATE TABLE ${identifier(name)} ${utf8Sql(body)}`);
  await session.run(BYTE_LITERALS);
  return await read(session, name);
}

async function read(session: MysqlSession, name: string): Promise<TableDefinition> {
  const definition = await readTableDefinition(session, server.schema, name);
  if (!definition) throw new Error(`no table ${name}`);
  return definition;
}

/** Body of the source, and the names of the indexes that are deferred. */
const TABLES: Record<string, { body: string; deferred: string[] }> = {
  "plain": { body: "(id int PRIMARY KEY, a int, KEY a (a), KEY b (a, id))", deferred: ["a", "b"] },
  "na`me.with/quotes%and \u00e9\u4e2d": {
    body: "(`sel``ect` int PRIMARY KEY COMMENT 'it''s, (a) `b` \"c\" \\\\ \\n end', `o(r,der` varchar(10) DEFAULT ')\\'),', `a.b/c%d e` int DEFAULT NULL, `\u00e9\u4e2d` int, `line\nbreak` int, KEY `k(,``\n)` (`o(r,der`,`line\nbreak`) COMMENT 'x) , KEY `y` (`z`),', KEY `\u00e9` (`\u00e9\u4e2d`)) COMMENT='tail ) DEFAULT CHARSET=utf8mb4 `x` '",
    deferred: ["k(,`\n)", "\u00e9"],
  },
  "all kinds of indexes": {
    body: "(id int NOT NULL, a varchar(20) NOT NULL, b int, c text, g point NOT NULL SRID 0, j json, PRIMARY KEY (id), UNIQUE KEY u (b), KEY p (a(5) DESC, b), KEY f ((lower(a))), KEY inv (b) INVISIBLE, FULLTEXT KEY ft (c), SPATIAL KEY sp (g), KEY mv ((cast(j->'$.x' as unsigned array))), KEY cmt (b, id) COMMENT 'a, b' )",
    deferred: ["p", "f", "inv", "mv", "cmt"],
  },
  "auto_increment not in the primary key": { body: "(a int NOT NULL, id int NOT NULL AUTO_INCREMENT, PRIMARY KEY (a), KEY other (a, id), KEY needs (id, a)) AUTO_INCREMENT=77", deferred: ["other"] },
  "auto_increment in a unique key": { body: "(a int NOT NULL, id int NOT NULL AUTO_INCREMENT, PRIMARY KEY (a), UNIQUE KEY u (id), KEY k (id, a))", deferred: ["k"] },
  "foreign keys": {
    body: "(id int PRIMARY KEY, p int, q int, KEY pq (p, q), KEY q (q), KEY z (id, p), CONSTRAINT `fk (1)` FOREIGN KEY (p) REFERENCES plain (id) ON DELETE CASCADE ON UPDATE SET NULL, CONSTRAINT fk2 FOREIGN KEY (q) REFERENCES elsewhere.not_there (id))",
    deferred: ["z"],
  },
  "generated, invisible, defaults, checks": {
    body: "(id bigint unsigned NOT NULL AUTO_INCREMENT, a int, s int GENERATED ALWAYS AS (a + 1) STORED, v varchar(40) CHARACTER SET latin1 GENERATED ALWAYS AS (concat('x,)', a)) VIRTUAL, i int INVISIBLE DEFAULT 5, d datetime(6) DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6), e varchar(50) DEFAULT (uuid()), z date NOT NULL DEFAULT '0000-00-00', bin binary(4) DEFAULT 'ab', vb varbinary(4) DEFAULT X'00FF', b bit(3) DEFAULT b'101', PRIMARY KEY (id), KEY s (s), KEY v (v), CONSTRAINT `chk,` CHECK ((a <> ')')) )",
    deferred: ["s", "v"],
  },
  "character sets": {
    body: "(id int PRIMARY KEY, a varchar(10) CHARACTER SET latin1 COLLATE latin1_german1_ci DEFAULT '\u00e9', b varchar(10) CHARACTER SET utf8mb3, c enum('\u00e9','a,b)','it''s') CHARACTER SET latin1 DEFAULT '\u00e9', d set('x','y') COLLATE utf8mb4_bin, e text CHARACTER SET gbk, f varchar(10) CHARACTER SET latin1 COLLATE latin1_bin, g longtext COLLATE utf8mb4_general_ci, h char(5) CHARACTER SET utf16 DEFAULT '\u4e2d', i varchar(5) CHARACTER SET binary, j char(3) CHARACTER SET ascii) DEFAULT CHARSET=latin1 COLLATE=latin1_bin",
    deferred: [],
  },
  "partitions": { body: "(id int NOT NULL, y int NOT NULL, v varchar(20), PRIMARY KEY (id, y), KEY v (v)) PARTITION BY RANGE (y) (PARTITION p0 VALUES LESS THAN (10) COMMENT='),(', PARTITION p1 VALUES LESS THAN MAXVALUE)", deferred: ["v"] },
  "options": { body: "(id int PRIMARY KEY, k int, KEY k (k)) ENGINE=InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8 STATS_PERSISTENT=0 MIN_ROWS=3 COMMENT='\u00e9''s'", deferred: ["k"] },
  "srid and vector": { body: "(id int PRIMARY KEY, g geometry SRID 4326, v vector(3), d double(10,2), z int(5) unsigned zerofill, t tinyint(1))", deferred: [] },
};

describe("createStatement", () => {
  it.for(Object.entries(TABLES))("%s", async ([name, { body, deferred: expected }], { skip }) => {
    using session = await server.open();
    skip(session.isMariaDb && /indexes|generated|srid|options/.test(name), "MySQL's syntax");
    const source = await made(session, name, body);
    const target = `${server.schema}_target`;
    await session.run(`CREATE DATABASE IF NOT EXISTS ${target} CHARACTER SET latin1` as ByteSql);
    try {
      for (const deferIndexes of [true, false]) {
        const table = `copy of ${name}`.slice(0, 60);
        const { statements, deferred } = createStatement(source, { schema: target, table, deferIndexes });
        expect(deferred.length).toBe(deferIndexes ? expected.length : 0);
        for (const clause of deferred) expect(expected.some((n) => clause.startsWith(`ADD KEY ${"`"}${n.replaceAll("`", "``")}${"`"} (`)), `${clause}`).toBe(true);
        for (const statement of statements) await session.run(statement);
        const bare = (await readTableDefinition(session, target, table)) as TableDefinition;
        expect(bare.indexes.map((i) => i.name).sort()).toEqual(source.indexes.map((i) => i.name).filter((n) => !deferIndexes || !expected.includes(n)).sort());
        for (const statement of addIndexStatements({ schema: target, table }, deferred)) await session.run(statement);
        const copy = (await readTableDefinition(session, target, table)) as TableDefinition;
        const tail = (text: string) => text.slice(text.indexOf("(")).split("\n").map((l) => l.replace(/,$/, "")).sort();
        // References without a schema follow the table.
        expect(tail(copy.createStatement.slice(copy.createStatement.indexOf("(\n")))).toEqual(tail(source.createStatement.slice(source.createStatement.indexOf("(\n"))));
        expect(copy.columns).toEqual(source.columns);
        expect(copy.key).toEqual(source.key);
        expect(sameShape(source, copy)).toEqual([]);
        await session.run(sql`DROP TABLE ${qualified(target, table)}`);
      }
    } finally {
      using last = await server.open();
      await last.run(`DROP DATABASE IF EXISTS ${target}` as ByteSql);
    }
  });

  it("copies the rows of a table with generated and invisible columns by name", async ({ skip }) => {
    using session = await server.open();
    skip(session.isMariaDb, "MySQL's syntax");
    const source = await made(session, "gen", "(id int PRIMARY KEY, a int, s int GENERATED ALWAYS AS (a + 1) STORED, i int INVISIBLE DEFAULT 5, v int AS (a * 2) VIRTUAL, b int)");
    await session.run("INSERT INTO gen (id, a, i, b) VALUES (1, 10, 11, 12), (2, NULL, NULL, NULL)" as ByteSql);
    expect(copiedColumns(source).map((c) => c.name)).toEqual(["id", "a", "i", "b"]);
    for (const statement of createStatement(source, { schema: server.schema, table: "gen2", deferIndexes: true }).statements) await session.run(statement);
    const load = new LoadWriter(source, { schema: server.schema, table: "gen2" });
    for (const row of await textRows(session, chunkSelect(source, { lower: null, upper: null }))) load.add(row);
    const file = load.finish();
    if (!file) throw new Error("no rows");
    expect(await session.load(file.statement, file.chunks)).toMatchObject({ affectedRows: 2, warnings: 0 });
    const all = (table: string) => session.rows(`SELECT id, a, s, i, v, b FROM ${table} ORDER BY id` as ByteSql);
    expect(await all("gen2")).toEqual(await all("gen"));
  });

  it("tells the warnings of a generated column's expression from those of cells", async ({ skip }) => {
    using session = await server.open();
    skip(session.isMariaDb, "MySQL's messages");
    await session.run("SET SESSION max_error_count=65535" as ByteSql);
    const source = await made(session, "warns", "(id int PRIMARY KEY, a varchar(3), e enum('x') NOT NULL, s int AS (CAST(a AS SIGNED)) STORED, t tinyint AS (id * 100) VIRTUAL, KEY ((CAST(a AS SIGNED))), KEY (t))");
    expect(expressionsMayWarn(source)).toBe(true);
    const ofCells = async (...row: string[]) => {
      const load = new LoadWriter(source, { schema: server.schema, table: "warns" });
      load.add(textRow(row.map((cell) => Buffer.from(cell))));
      const file = load.finish();
      if (!file) throw new Error("no rows");
      const { warnings } = await session.load(file.statement, file.chunks);
      const found = await session.rows("SHOW WARNINGS LIMIT 65535" as ByteSql);
      expect(found.length).toBe(warnings);
      return { ofCells: found.filter((w) => !isAboutExpression(source, { code: Number(w["Code"]), message: w["Message"] ?? "" })).length, expected: file.expectedWarnings, warnings };
    };
    const legal = await ofCells("1", "abc", "1");
    expect(legal.warnings).toBeGreaterThan(0);
    expect(legal.ofCells).toBe(0);
    expect(await ofCells("2", "abc", "0")).toMatchObject({ ofCells: 1, expected: 1 });
    expect(await ofCells("3", "abcd", "1")).toMatchObject({ ofCells: 1, expected: 0 });
    expect(await ofCells("3", "a", "2")).toMatchObject({ ofCells: 1, expected: 0 });
  });

  it("sees a generated invisible primary key, even when the server hides it", async ({ skip }) => {
    using session = await server.open();
    skip(session.isMariaDb, "MySQL only");
    await session.run("SET SESSION sql_generate_invisible_primary_key=1, SESSION show_gipk_in_create_table_and_information_schema=0" as ByteSql);
    await session.run("CREATE TABLE gipk (a int)" as ByteSql);
    await session.run("INSERT INTO gipk (a) VALUES (5), (6)" as ByteSql);
    const definition = await read(session, "gipk");
    expect(definition.key).toEqual({ index: "PRIMARY", columns: ["my_row_id"] });
    expect(definition.columns.map((c) => [c.name, c.invisible])).toEqual([["my_row_id", true], ["a", false]]);
    expect((await textRows(session, chunkSelect(definition, { lower: null, upper: null }))).length).toBe(2);
  });
});

describe("readTableDefinition", () => {
  it("gives null for views and for what is not there, and lists base tables only", async () => {
    using session = await server.open();
    await session.run("CREATE TABLE seen (id int PRIMARY KEY)" as ByteSql);
    await session.run("CREATE VIEW `a view` AS SELECT * FROM seen" as ByteSql);
    expect(await readTableDefinition(session, server.schema, "a view")).toBeNull();
    expect(await readTableDefinition(session, server.schema, "nowhere")).toBeNull();
    expect(await readTableDefinition(session, "no such schema", "nowhere")).toBeNull();
    const tables = await listTables(session, server.schema);
    expect(tables).toContain("seen");
    expect(tables).not.toContain("a view");
  });

  it("chooses the clustered unique key, and says why there is no key", async ({ skip }) => {
    using session = await server.open();
    skip(session.isMariaDb, "MySQL's syntax");
    const clustered = await made(session, "two unique", "(a varchar(20) NOT NULL, b int NOT NULL, c int, UNIQUE KEY nullable (c), UNIQUE KEY prefix (a(3)), UNIQUE KEY long_one (b, a), UNIQUE KEY short_one (b))");
    expect(clustered.key).toEqual({ index: "long_one", columns: ["b", "a"] });
    const none = await made(session, "no key", "(a varchar(20) NOT NULL, c int, s int AS (c) STORED NOT NULL, UNIQUE KEY nullable (c), UNIQUE KEY prefix (a(3)), UNIQUE KEY gen (s), KEY plain (a))");
    expect(none.key).toBeNull();
    expect(whyNoKey(none)).toMatch(/nullable cannot serve because its column c may be NULL/);
    expect(whyNoKey(none)).toMatch(/prefix cannot serve because it has only a prefix of a/);
    expect(whyNoKey(none)).toMatch(/gen cannot serve because its column s is generated/);
    const generated = await made(session, "generated primary key", "(a int NOT NULL, s int AS (a + 1) STORED NOT NULL, PRIMARY KEY (s), UNIQUE KEY u (a))");
    expect(generated.key).toEqual({ index: "u", columns: ["a"] });
  });
});
