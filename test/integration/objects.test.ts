/** Views, routines, triggers and events: carried byte for byte, in order, once; refused where a name would go astray. */
import { createConnection } from "mysql2/promise";
import { expect, it } from "vitest";
import type { MigrationSpecInput } from "../../src/producers/index.js";
import { testContext, type TestContext } from "../support/context.js";
import { Gate } from "./ddl-scene.js";
import { openClient, openWorker } from "./client-scene.js";

const TABLES = `CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, n VARCHAR(40)); CREATE TABLE log (id INT PRIMARY KEY AUTO_INCREMENT, what VARCHAR(40)); INSERT INTO t (n) VALUES ('a'),('b')`;

/** Statements as a client of one character set and mode sends them; strings are bytes. */
async function as(ctx: TestContext, settings: string, statements: string[]): Promise<void> {
  const connection = await createConnection({ uri: ctx.source.url, database: ctx.schema, charset: "BINARY" });
  try {
    const { config } = (connection as unknown as { connection: { config: { charsetNumber: number } } }).connection;
    Object.defineProperty(config, "charsetNumber", { get: () => 63, set: () => {} });
    for (const statement of [settings, ...statements]) await connection.query({ sql: statement });
  } finally {
    await connection.end();
  }
}

/** SHOW CREATE of an object with all its settings, in bytes. */
async function shown(ctx: TestContext, side: "source" | "target", what: string, schema = ctx.schema): Promise<unknown> {
  const connection = await createConnection({ uri: ctx[side].url, database: schema, charset: "BINARY" });
  try {
    const [rows] = await connection.query({ sql: `SHOW CREATE ${what}`, typeCast: (field: { buffer(): Buffer | null }) => field.buffer()?.toString("latin1") ?? null } as never);
    const [row] = rows as Record<string, unknown>[];
    delete row?.["Created"];
    return row;
  } finally {
    await connection.end();
  }
}

const OBJECTS = ["VIEW a_first", "VIEW z_base", "VIEW accents", "PROCEDURE p", "FUNCTION f", "FUNCTION ansi", "TRIGGER t_a", "TRIGGER t_b", "TRIGGER t_c"];

async function createAll(ctx: TestContext): Promise<void> {
  // The view that comes first by name reads the one that comes last.
  await as(ctx, "SET NAMES utf8mb4", [
    "CREATE VIEW z_base AS SELECT id, n FROM t", "CREATE VIEW a_first AS SELECT id FROM z_base WHERE id > 0",
    "CREATE PROCEDURE p(IN a VARCHAR(10)) BEGIN INSERT INTO log (what) VALUES (a); END",
    // In the end they run in the order a, b, c; created in another one.
    "CREATE TRIGGER t_a BEFORE INSERT ON t FOR EACH ROW SET NEW.n=CONCAT(NEW.n,'a')", "CREATE TRIGGER t_c BEFORE INSERT ON t FOR EACH ROW FOLLOWS t_a SET NEW.n=CONCAT(NEW.n,'c')",
    "CREATE TRIGGER t_b BEFORE INSERT ON t FOR EACH ROW PRECEDES t_c SET NEW.n=CONCAT(NEW.n,'b')",
    "SET time_zone='+05:00'", "CREATE EVENT e ON SCHEDULE EVERY 1 DAY STARTS '2020-01-01 03:00:00' COMMENT 'DO it; ENABLE' DO INSERT INTO log (what) VALUES ('e')",
  ]);
  await as(ctx, "SET NAMES latin1 COLLATE latin1_german1_ci", ["CREATE VIEW accents AS SELECT '\xe9' AS e, _utf8mb4'\xc3\xa9' AS u, id FROM t", "CREATE FUNCTION f() RETURNS VARBINARY(20) DETERMINISTIC RETURN '\xe9'"]);
  await as(ctx, "SET NAMES utf8mb4, sql_mode='ANSI_QUOTES,NO_BACKSLASH_ESCAPES'", [`CREATE FUNCTION ansi() RETURNS VARCHAR(20) NO SQL RETURN '\\'`]);
  // A routine remembers its schema's collation of then.
  await as(ctx, "SET NAMES utf8mb4", [`ALTER DATABASE ${ctx.schema} COLLATE utf8mb4_bin`, "CREATE FUNCTION old_collation(a VARCHAR(5)) RETURNS INT DETERMINISTIC RETURN a='A'", `ALTER DATABASE ${ctx.schema} COLLATE utf8mb4_0900_ai_ci`]);
}

it("a copy carries them all, with character sets, modes, zones and order; events do not act; a crash in between does no harm", async () => {
  const gate = new Gate();
  gate.failures.set("object:after-create", 3);
  gate.failures.set("object:before-create", 2);
  await using ctx = await testContext({ allowedKey: () => true });
  await ctx.source.query(`USE ${ctx.schema}; ${TABLES}; CREATE TABLE other (id INT PRIMARY KEY); CREATE TRIGGER not_ours BEFORE INSERT ON other FOR EACH ROW SET @x=1`);
  await createAll(ctx);
  await using client = openClient(ctx);
  await using _worker = await openWorker(ctx, gate);
  await client.startMigration({
    id: "all", source: "SRC", target: "DST", mode: "copy", objects: ["views", "routines", "triggers", "events"], tables: [{ schema: ctx.schema, exclude: ["other"] }],
  }, { preflight: true });
  const done = await client.waitFor("all", "copied", { timeout: 60_000 });
  expect(done).toMatchObject({ phase: "completed", error: null });
  for (const what of [...OBJECTS, "FUNCTION old_collation"]) expect(await shown(ctx, "target", what)).toEqual(await shown(ctx, "source", what));
  const event = (await shown(ctx, "target", "EVENT e")) as Record<string, string>;
  expect(event).toEqual({ ...(await shown(ctx, "source", "EVENT e") as object), "Create Event": expect.stringContaining("ON COMPLETION NOT PRESERVE DISABLE COMMENT 'DO it; ENABLE' DO INSERT") });
  expect(event["time_zone"]).toBe("+05:00");
  await ctx.target.query(`INSERT INTO ${ctx.schema}.t (n) VALUES ('x')`);
  expect(await ctx.target.query(`SELECT n FROM ${ctx.schema}.t WHERE n LIKE 'x%'`)).toEqual([{ n: "xabc" }]);
  expect(await ctx.target.query(`SELECT HEX(${ctx.schema}.f()) AS f, ${ctx.schema}.old_collation('a') AS c`)).toEqual([{ f: "E9", c: 0 }]);
  expect(await ctx.target.query(`SELECT DEFAULT_COLLATION_NAME AS c FROM information_schema.SCHEMATA WHERE SCHEMA_NAME='${ctx.schema}'`)).toEqual([{ c: "utf8mb4_0900_ai_ci" }]);
  expect([...gate.failures.values()]).toEqual([0, 0]);
}, 120_000);

it("a schema with a name beyond ASCII: what clients of other character sets created there is carried, and carried anew", async () => {
  await using ctx = await testContext({ allowedKey: () => true });
  const schema = `${ctx.schema}_größe`;
  await ctx.source.query(`CREATE DATABASE \`${schema}\` COLLATE utf8mb4_bin; USE \`${schema}\`; ${TABLES}`);
  await as(ctx, "SET NAMES utf8mb4", [`USE \`${Buffer.from(schema).toString("latin1")}\``, "SET NAMES latin1", "CREATE VIEW ma\xdf AS SELECT '\xe9' AS e, id FROM t", "CREATE VIEW n AS SELECT '\xe9' AS e FROM t",
    "CREATE FUNCTION f() RETURNS INT NO SQL RETURN 1", "CREATE FUNCTION g() RETURNS INT NO SQL RETURN 2"]);
  await ctx.source.query(`ALTER DATABASE \`${schema}\` COLLATE utf8mb4_0900_ai_ci`);
  const gate = new Gate();
  // Created, but not recorded as such: dropped, and created again.
  gate.failures.set("object:after-create", 2);
  await using client = openClient(ctx);
  await using _worker = await openWorker(ctx, gate);
  await client.startMigration({ id: "all", source: "SRC", target: "DST", mode: "copy", objects: ["views", "routines"], options: { definer: "current" }, tables: [{ schema }] });
  expect(await client.waitFor("all", "copied", { timeout: 60_000 })).toMatchObject({ phase: "completed", error: null });
  expect(await ctx.target.query(`SELECT HEX(e) AS e FROM \`${schema}\`.maß LIMIT 1`)).toEqual([{ e: "E9" }]);
  expect(await ctx.target.query(`SELECT \`${schema}\`.f() + \`${schema}\`.g() AS n`)).toEqual([{ n: "3" }]);
  // SHOW CREATE gives such a name in UTF-8, in a text that is not: refused, rather than created under another name.
  await as(ctx, "SET NAMES utf8mb4", [`USE \`${Buffer.from(schema).toString("latin1")}\``, "SET NAMES latin1", "CREATE FUNCTION l\xe4nge() RETURNS INT NO SQL RETURN 1"]);
  expect((await client.check({ id: "c", source: "SRC", target: "DST", objects: ["routines"], options: { definer: "current" }, tables: [{ schema, targetSchema: "other" }] })).map((finding) => finding.code)).toContain("object-name-charset");
}, 60_000);

it("while a target is followed it has views and routines, and no triggers or events yet", async () => {
  await using ctx = await testContext({ allowedKey: () => true });
  await ctx.source.query(`USE ${ctx.schema}; ${TABLES}`);
  await createAll(ctx);
  await using client = openClient(ctx);
  await using _worker = await openWorker(ctx);
  await client.startMigration({ id: "all", source: "SRC", target: "DST", objects: ["triggers", "views", "routines", "events"], options: { definer: "current" }, tables: [{ schema: ctx.schema, targetSchema: `${ctx.schema}2` }] });
  await client.waitFor("all", "streaming", { timeout: 60_000 });
  const views = await ctx.target.query(`SELECT TABLE_NAME AS name, DEFINER AS definer FROM information_schema.VIEWS WHERE TABLE_SCHEMA='${ctx.schema}2' ORDER BY 1`);
  expect(views).toEqual(["a_first", "accents", "z_base"].map((name) => ({ name, definer: `${ctx.target.user}@%` })));
  expect(await ctx.target.query(`SELECT COUNT(*) AS n FROM ${ctx.schema}2.a_first`)).toEqual([{ n: "2" }]);
  expect(await ctx.target.query(`SELECT (SELECT COUNT(*) FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA LIKE '${ctx.schema}%') + (SELECT COUNT(*) FROM information_schema.EVENTS WHERE EVENT_SCHEMA LIKE '${ctx.schema}%') AS n`)).toEqual([{ n: "0" }]);
}, 60_000);

it("what cannot be carried is told before anything is begun, all at once, each with its cure", async () => {
  await using ctx = await testContext();
  const { schema } = ctx;
  await ctx.source.query(`USE ${schema}; ${TABLES}; CREATE USER '${ctx.id}_gone'@'%';
    CREATE VIEW cross_view AS SELECT t.id FROM ${schema}.t JOIN ${schema}.log USING (id);
    CREATE PROCEDURE names_it() SELECT COUNT(*) FROM ${schema}.t;
    CREATE PROCEDURE dynamic() BEGIN SET @q='SELECT 1'; PREPARE s FROM @q; END;
    CREATE DEFINER='${ctx.id}_gone'@'%' FUNCTION theirs() RETURNS INT NO SQL RETURN 1;
    CREATE VIEW uses_renamed AS SELECT what FROM log;
    CREATE TRIGGER on_renamed BEFORE INSERT ON log FOR EACH ROW SET @x=1`);
  await ctx.target.query(`CREATE DATABASE ${schema}; CREATE VIEW ${schema}.cross_view AS SELECT 1 AS other`);
  await using client = openClient(ctx);
  const problems = async (change: Partial<MigrationSpecInput>) =>
    (await client.check({ id: "c", source: "SRC", target: "DST", tables: [{ schema }], objects: ["views", "routines", "triggers", "events"], ...change })).map((finding) => [finding.code, finding.severity, /(?:procedure|function|view|trigger|event) \S+?\.(\w+)/.exec(finding.message)?.[1]]);
  expect(await problems({})).toEqual([["definer-missing", "error", "theirs"], ["object-exists", "error", "cross_view"]]);
  expect(await problems({ options: { definer: "current", existingTarget: "replace" } })).toEqual([]);
  expect(await problems({ objects: [] })).toEqual([["not-a-table", "warning", undefined], ["objects-left", "warning", undefined]]);
  // Under another name of the schema: what is written without it is right as it is.
  expect(await problems({ tables: [{ schema, targetSchema: `${schema}2` }], options: { definer: "current" } })).toEqual([
    ["object-dynamic-sql", "error", "dynamic"], ["object-names-schema", "error", "names_it"],
  ]);
  expect(await problems({ tables: [{ schema, table: "log", targetTable: "journal" }, { schema, exclude: ["log"] }], options: { definer: "current", existingTarget: "replace" }, objects: ["views", "triggers"] })).toEqual([
    ["objects-left", "warning", undefined], ["object-names-table", "error", "cross_view"], ["object-names-table", "error", "uses_renamed"],
  ]);
}, 60_000);
