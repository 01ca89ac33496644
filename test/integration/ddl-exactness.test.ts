/** DDL exactly once across crashes (case 39), under mapping, in every client's character set, and what stops (cases 31, 35, 37). */
import { expect, it } from "vitest";
import { createConnection } from "mysql2/promise";
import { DdlScene, Gate, numbered } from "./ddl-scene.js";

it("a crash between DDL and the fence: no failure, no double effect (case 39)", async () => {
  const gate = new Gate();
  await using scene = await DdlScene.start({
    before: `CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(40), w VARCHAR(40)); CREATE TABLE b LIKE a; CREATE TABLE c LIKE a; ${numbered("a", 20)}; ${numbered("b", 30)}; ${numbered("c", 5)}`,
    hooks: gate,
  });
  await scene.streaming();
  // Each statement is executed, and the worker crashes before it moves the fence.
  gate.alternating = "ddl:before-fence";
  await scene.source("ALTER TABLE a ADD x INT DEFAULT 4, DROP COLUMN w");
  await scene.source("INSERT INTO a VALUES (99,'z',1); TRUNCATE TABLE c; INSERT INTO c (id, v) VALUES (1,'c'); RENAME TABLE b TO d");
  await scene.source("CREATE TABLE e LIKE c; INSERT INTO e VALUES (1,'e','f')");
  await scene.source("CREATE TABLE f LIKE c; DROP TABLE f");
  expect(await scene.differences()).toEqual([]);
  expect(gate.crashes).toBe(6);
  await scene.stopWorker();
  await scene.startWorker(gate);
  // The same shape before and after: only copying anew is sure to be right.
  gate.alternating = null;
  gate.failures.set("ddl:before-fence", 2);
  await scene.source("RENAME TABLE d TO swap, c TO d, swap TO c; UPDATE c SET w='c'");
  await scene.source("ALTER TABLE e CHANGE v w VARCHAR(40) AFTER id, CHANGE w v VARCHAR(40) AFTER id");
  expect(await scene.differences()).toEqual([]);
  expect([...gate.failures.values()]).toEqual([0]);
}, 120_000);

it("under other names on the target: every name in a statement is mapped, and nothing else", async () => {
  await using scene = await DdlScene.start({
    before: `CREATE TABLE parent (id INT PRIMARY KEY, v VARCHAR(40)); CREATE TABLE child (id INT PRIMARY KEY, v VARCHAR(40), p INT); CREATE TABLE \`or\`\`der.s\` (id INT PRIMARY KEY, v VARCHAR(40));
      ${numbered("parent", 10)}; ${numbered("child", 10)}; ${numbered("`or``der.s`", 10)}`,
    tables: (schema) => [
      { schema, table: "parent", targetSchema: `${schema}_to`, targetTable: "pa rent" },
      { schema, table: "or`der.s", targetSchema: `${schema}_to`, targetTable: "o'rd`ers" },
      { schema, include: ["*"], exclude: ["parent", "or`der.s"], targetSchema: `${schema}_to` },
    ],
  });
  const { schema } = scene.ctx;
  await scene.streaming();
  await scene.source(`UPDATE child SET p=id; ALTER TABLE \`${schema}\` . child /* child */ ADD CONSTRAINT f FOREIGN KEY (p) REFERENCES parent (id), COMMENT 'parent child'`);
  await scene.source(`ALTER TABLE \`or\`\`der.s\` ADD \`parent\` VARCHAR(20) DEFAULT 'child' COMMENT 'REFERENCES parent'`);
  await scene.source(`CREATE TABLE made (id INT PRIMARY KEY, r INT, FOREIGN KEY (r) REFERENCES ${schema}.child (id)); INSERT INTO made VALUES (1, 2); CREATE TABLE like_it LIKE \`or\`\`der.s\``);
  await scene.source(`RENAME TABLE parent TO parent2, made TO made2; CREATE TABLE parent (id INT PRIMARY KEY, x INT); INSERT INTO parent VALUES (3,4); TRUNCATE like_it`);
  expect(await scene.differences({ target: `${schema}_to`, rename: { parent: "pa rent", "or`der.s": "o'rd`ers" }, ignore: ["child"] , targetIgnore: ["child"] })).toEqual([]);
  const [create] = await scene.target<Record<string, string>>(`SHOW CREATE TABLE ${schema}_to.child`);
  expect(create?.["Create Table"]).toContain("FOREIGN KEY (`p`) REFERENCES `parent2` (`id`)");
});

it("statements mean what they meant to the client that sent them (case 37)", async () => {
  await using scene = await DdlScene.start({ before: `CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(40)); CREATE TABLE \`表\\\` (id INT PRIMARY KEY, v VARCHAR(40)) DEFAULT CHARSET=utf8mb4; ${numbered("t", 5)}` });
  await scene.streaming();
  const { ctx } = scene;
  const as = async (charset: string, statements: Buffer[], settings = "SET sql_mode=''") => {
    const connection = await createConnection({ uri: ctx.source.url, database: ctx.schema, charset: "BINARY" });
    try {
      await connection.query(settings);
      // The driver would encode the bytes once more in a set that it sees the session take on.
      const { config } = (connection as unknown as { connection: { config: { charsetNumber: number } } }).connection;
      Object.defineProperty(config, "charsetNumber", { get: () => 63, set: () => {} });
      await connection.query(`SET NAMES ${charset}`);
      for (const statement of statements) await connection.query({ sql: statement.toString("latin1") });
    } finally {
      await connection.end();
    }
  };
  const ascii = (text: string) => Buffer.from(text, "latin1");
  // 表 is 0x95 0x5C in sjis (the second byte is a backslash), 0xB1 0xED in gbk.
  await as("sjis", [ascii("ALTER TABLE `\x95\x5c\x5c` ADD s VARCHAR(20) CHARACTER SET sjis DEFAULT '\x95\x5c' COMMENT 'x\x95\x5c''`'")]);
  await as("gbk", [ascii("ALTER TABLE `\xb1\xed\x5c` ADD g VARBINARY(20) DEFAULT '\xb1\xed' COMMENT '\xb1\xed'")]);
  await as("latin1", [ascii("ALTER TABLE t ADD l VARBINARY(20) DEFAULT '\xe9', ADD m VARCHAR(10) CHARACTER SET utf8mb4 DEFAULT '\xe9', COMMENT '\xe9'")]);
  await as("utf8mb4", [ascii(`ALTER TABLE "t" ADD "a""b" INT COMMENT '\\'`)], "SET sql_mode='ANSI_QUOTES,NO_BACKSLASH_ESCAPES'");
  await as("utf8mb4", [ascii("ALTER TABLE t ADD ts TIMESTAMP NOT NULL DEFAULT '2020-07-01 12:00:00', ADD dt DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), ADD r REAL")], "SET time_zone='+05:00', sql_mode='REAL_AS_FLOAT'");
  await as("utf8mb4", [ascii("ALTER TABLE t ADD z DATE NOT NULL DEFAULT '0000-00-00', ADD q INT NOT NULL DEFAULT 1")], "SET timestamp=1700000000.5, sql_mode=''");
  await as("utf8mb4", [ascii("CREATE TABLE gipk (v INT)"), ascii("INSERT INTO gipk VALUES (1),(2)")], "SET sql_generate_invisible_primary_key=1");
  await as("utf8mb4", [ascii(`ALTER DATABASE ${ctx.schema} DEFAULT CHARACTER SET latin1`), ascii("CREATE TABLE inherits (id INT PRIMARY KEY, v VARCHAR(10)); ".replace("; ", ""))]);
  expect(await scene.differences()).toEqual([]);
});
