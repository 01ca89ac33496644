/** Preflight between two good servers: what passes, what each wrong table, grant and setting says, and that nothing is changed. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openServers, type Servers } from "../../scripts/servers/index.js";
import { parseMigrationSpec } from "../../src/shared/contracts/spec.js";
import { loadConfig } from "../../src/shared/config.js";
import { createStatement } from "../../src/shared/columns/create-statement.js";
import { readTableDefinition } from "../../src/shared/columns/read-table.js";
import type { ByteSql } from "../../src/shared/mysql/bytes.js";
import { Connections } from "../../src/shared/mysql/connections.js";
import { leastPrivilegeGrants } from "../../src/shared/preflight/grants.js";
import { ensureStateSchema } from "../../src/shared/state/schema.js";
import { MigrationStore } from "../../src/shared/state/migrations.js";
import { openBinlogStream } from "../../src/workers/binlog/stream.js";
import { PreflightServer, codes, preflight } from "./preflight-support.js";

const PASSWORD = "s3cret-Passw0rd";
const ODD = "we'i`r\"d.50% /näme";
const quoted = `\`${ODD.replaceAll("`", "``")}\``;
const SHOP = { tables: [{ schema: "my_shop" }, { schema: ODD, table: ODD, targetSchema: "crm", targetTable: ODD, where: "region = 'ö'" }] };

let servers: Servers;
let source: PreflightServer;
let target: PreflightServer;
beforeAll(async () => {
  servers = await openServers();
  const [a, b] = await Promise.all([servers.mysql({ name: "preflight-source" }), servers.mysql({ name: "preflight-target" })]);
  [source, target] = [await PreflightServer.open(a), await PreflightServer.open(b)];
  await source.query(`CREATE DATABASE my_shop; USE my_shop;
    CREATE TABLE orders (id BIGINT PRIMARY KEY, note VARCHAR(100), total DECIMAL(10,2), twice DECIMAL(10,2) AS (total * 2));
    CREATE TABLE items (a INT, b INT, order_id BIGINT, PRIMARY KEY (a, b), KEY (order_id), FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE);
    CREATE TABLE codes (code CHAR(3) NOT NULL, UNIQUE KEY (code));
    CREATE DATABASE ${quoted}; CREATE TABLE ${quoted}.${quoted} (id INT PRIMARY KEY, region VARCHAR(10))`);
  for (const server of [source, target]) await server.query(`CREATE USER least IDENTIFIED BY '${PASSWORD}'`);
  const grants = leastPrivilegeGrants(parseMigrationSpec({ id: "m", source: "SRC", target: "DST", ...SHOP }), [], "drover", { sourceAccount: "least", targetAccount: "least" });
  for (const grant of grants.source) await source.query(grant);
  for (const grant of grants.target) await target.query(grant);
}, 120_000);
afterAll(async () => {
  await source?.[Symbol.asyncDispose]();
  await target?.[Symbol.asyncDispose]();
  await servers?.close();
});

const least = () => ({ SRC: source.url("least", PASSWORD), DST: target.url("least", PASSWORD) });
const admin = () => ({ SRC: source.server.url, DST: target.server.url });
const check = (spec: Record<string, unknown>, connections: Record<string, string> = admin()) => preflight({ connections, spec });
const tables = (...selections: unknown[]) => ({ tables: selections });

/** Runs `work` between two statements of the administrator. */
async function between<T>(server: PreflightServer, before: string, after: string, work: () => Promise<T>): Promise<T> {
  await server.query(before);
  try {
    return await work();
  } finally {
    await server.query(after);
  }
}

describe("least privilege", () => {
  it("passes with exactly the documented grants, and changes nothing on either server", async () => {
    const before = [await source.snapshot(), await target.snapshot()];
    expect(await check(SHOP, least())).toEqual([]);
    expect([await source.snapshot(), await target.snapshot()]).toEqual(before);
  });

  it.each([
    ["source", "SELECT", "`my\\_shop`.*"],
    ["source", "SELECT", `${quoted}.${quoted}`],
    ["source", "REPLICATION SLAVE", "*.*"],
    ["source", "REPLICATION CLIENT", "*.*"],
    ...["SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "ALTER", "DROP", "INDEX", "REFERENCES"].map((p) => ["target", p, "`my\\_shop`.*"]),
    ...["SELECT", "INSERT", "UPDATE", "DELETE", "CREATE"].map((p) => ["target", p, "`drover`.*"]),
  ])("names a grant that is missing on the %s: %s on %s", async (side, privilege, object) => {
    const server = side === "source" ? source : target;
    const findings = await between(server, `REVOKE ${privilege} ON ${object} FROM least`, `GRANT ${privilege} ON ${object} TO least`, () => check(SHOP, least()));
    expect(codes(findings)).toEqual(["grant-missing"]);
    expect(findings[0]?.message).toContain(`'least'@'%' has no ${privilege}`);
    // The cure is the very statement.
    expect(findings[0]?.cure).toContain(`GRANT ${privilege} ON ${object} TO 'least'@'%';`);
  });

  it("is enough for what Drover does", async () => {
    const config = loadConfig({ DROVER_CONNECTION_SRC: least().SRC, DROVER_CONNECTION_DST: least().DST });
    const connections = new Connections({ config, worker: "grants-test" });
    const signal = new AbortController().signal;
    try {
      const definitions = await connections.use("SRC", "source", signal, async (session) => [await readTableDefinition(session, "my_shop", "orders"), await readTableDefinition(session, "my_shop", "items")]);
      await connections.use("DST", "target", signal, async (session) => {
        await ensureStateSchema(session, "drover");
        await session.run("CREATE DATABASE my_shop" as ByteSql);
        for (const definition of definitions) for (const statement of createStatement(definition as NonNullable<typeof definition>, { schema: "my_shop", table: definition?.table as string, deferIndexes: false }).statements) await session.run(statement);
        for (const statement of ["REPLACE INTO my_shop.orders (id) VALUES (1)", "UPDATE my_shop.orders SET note='x'", "DELETE FROM my_shop.orders", "ALTER TABLE my_shop.orders ADD KEY (note), ADD COLUMN more INT",
          "CREATE INDEX i ON my_shop.orders (total)", "TRUNCATE TABLE my_shop.items", "RENAME TABLE my_shop.orders TO my_shop.orders2", "DROP TABLE my_shop.items, my_shop.orders2", "DROP DATABASE my_shop"])
          await session.run(statement as ByteSql);
      });
      const { host, port } = source.server;
      const stream = await openBinlogStream({ host, port, user: "least", password: PASSWORD, serverId: 4_000_001, position: "", signal, handler: { begin() {}, table: () => null, statement() {}, commit() {} } as never });
      await stream.close();
      expect(definitions.map((definition) => definition?.table)).toEqual(["orders", "items"]);
    } finally {
      connections.close();
      await target.query("DROP DATABASE IF EXISTS drover; DROP DATABASE IF EXISTS my_shop");
    }
  });

  it("counts grants that come by a role, when the role is active", async () => {
    for (const server of [source, target]) await server.query(`CREATE ROLE mover; CREATE USER byrole IDENTIFIED BY '${PASSWORD}'; GRANT mover TO byrole`);
    const grants = leastPrivilegeGrants(parseMigrationSpec({ id: "m", source: "SRC", target: "DST", ...SHOP }), [], "drover", { sourceAccount: "mover", targetAccount: "mover" });
    for (const grant of grants.source) await source.query(grant);
    for (const grant of grants.target) await target.query(grant);
    const connections = { SRC: source.url("byrole", PASSWORD), DST: target.url("byrole", PASSWORD) };
    expect(new Set(codes(await check(SHOP, connections)))).toEqual(new Set(["grant-missing"]));
    for (const server of [source, target]) await server.query("SET DEFAULT ROLE mover TO byrole");
    expect(await check(SHOP, connections)).toEqual([]);
    for (const server of [source, target]) await server.query("DROP USER byrole; DROP ROLE mover");
  });

  it("sees that one grant hides another, and partial revokes", async () => {
    const overlapped = await between(source, "GRANT INSERT ON `my\\_shop`.* TO least; REVOKE SELECT ON `my\\_shop`.* FROM least; GRANT SELECT ON `my%`.* TO least",
      "REVOKE SELECT ON `my%`.* FROM least; GRANT SELECT ON `my\\_shop`.* TO least; REVOKE INSERT ON `my\\_shop`.* FROM least", () => check(SHOP, least()));
    expect(codes(overlapped)).toEqual(["grant-missing"]);
    expect(overlapped[0]?.message).toContain("`my%`");
    await source.query(`SET GLOBAL partial_revokes=ON; CREATE USER partly IDENTIFIED BY '${PASSWORD}'; GRANT SELECT, REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO partly; REVOKE SELECT ON my_shop.* FROM partly`);
    const revoked = await check(SHOP, { ...admin(), SRC: source.url("partly", PASSWORD) });
    await source.query("DROP USER partly; SET GLOBAL partial_revokes=OFF");
    expect(codes(revoked)).toEqual(["grant-missing"]);
    expect(revoked[0]?.cure).toContain("ON `my_shop`.*");
  });
});

describe("connections", () => {
  it("tells an unknown name, a dead server and a wrong password, goes on with the other server, and never shows a password", async () => {
    const dead = `mysql://someone:${PASSWORD}@127.0.0.1:1/`;
    const spec = { source: "SRC", tables: [{ schema: "my_shop" }, { schema: "gone", table: "t" }] };
    const unknown = await preflight({ connections: { SRC: source.server.url }, spec: { ...spec, target: "NOPE" } });
    const unreachable = await check(spec, { SRC: source.server.url, DST: dead });
    const refused = await check(spec, { SRC: source.server.url, DST: target.url("least", "wrong-Passw0rd") });
    expect(codes(unknown)).toEqual(["connection-unknown", "schema-missing"]);
    expect(codes(unreachable)).toEqual(["connection-failed", "schema-missing"]);
    expect(codes(refused)).toEqual(["connection-login", "schema-missing"]);
    expect(codes(await check(SHOP, { SRC: dead, DST: dead }))).toEqual(["connection-failed", "connection-failed"]);
    expect(JSON.stringify([unknown, unreachable, refused])).not.toMatch(/s3cret|wrong-Passw0rd/);
    expect(JSON.stringify([unknown, unreachable, refused])).not.toContain(source.server.password);
  });
});

/** Settings that a running server takes, one at a time: the finding and nothing else. */
describe("a wrong setting is told, and alone", () => {
  it.each([
    ["source", "binlog_format='STATEMENT'", "binlog_format='ROW'", "binlog-format"],
    ["source", "binlog_row_image='NOBLOB'", "binlog_row_image='FULL'", "binlog-row-image"],
    ["source", "binlog_row_metadata='MINIMAL'", "binlog_row_metadata='FULL'", "binlog-row-metadata"],
    ["source", "binlog_row_value_options='PARTIAL_JSON'", "binlog_row_value_options=''", "binlog-row-value-options"],
    ["source", "binlog_expire_logs_seconds=60", "binlog_expire_logs_seconds=2592000", "binlog-retention"],
    ["source", "gtid_mode='ON_PERMISSIVE'", "gtid_mode='ON'", "gtid-mode"],
    ["target", "super_read_only=ON", "read_only=OFF", "target-read-only"],
    ["target", "transaction_read_only=ON", "transaction_read_only=OFF", "target-read-only"],
    ["target", "sql_require_primary_key=ON", "sql_require_primary_key=OFF", "target-primary-key"],
    ["target", "sql_generate_invisible_primary_key=ON", "sql_generate_invisible_primary_key=OFF", "target-primary-key"],
    ["target", "local_infile=OFF", "local_infile=ON", "local-infile"],
    ["target", "max_allowed_packet=1048576", "max_allowed_packet=67108864", "packet-size"],
    ["source", "innodb_strict_mode=OFF", "innodb_strict_mode=ON", "target-row-size"],
    ["target", "innodb_default_row_format='COMPACT'", "innodb_default_row_format='DYNAMIC'", "target-row-size"],
  ])("%s: %s", async (side, wrong, right, code) => {
    const findings = await between(side === "source" ? source : target, `SET GLOBAL ${wrong}`, `SET GLOBAL ${right}`, () => check(SHOP));
    expect(codes(findings)).toEqual([code]);
    expect(findings[0]?.severity).toBe(["local-infile", "packet-size", "target-row-size"].includes(code) ? "warning" : "error");
    expect(findings[0]?.message).toContain(side === "source" && code !== "target-row-size" ? "SRC" : "DST");
  });

  it("is none: compressed transactions, and read_only for who may write all the same", async () => {
    expect(await between(source, "SET GLOBAL binlog_transaction_compression=ON", "SET GLOBAL binlog_transaction_compression=OFF", () => check(SHOP))).toEqual([]);
    expect(await between(target, "SET GLOBAL read_only=ON", "SET GLOBAL read_only=OFF", () => check(SHOP))).toEqual([]);
    expect(codes(await between(target, "SET GLOBAL read_only=ON", "SET GLOBAL read_only=OFF", () => check(SHOP, least())))).toEqual(["target-read-only"]);
  });

  it("or a transaction that was prepared and left (case 40)", async () => {
    await source.query("XA START 'left'; INSERT INTO my_shop.orders (id) VALUES (1); XA END 'left'; XA PREPARE 'left'");
    const findings = await check(SHOP);
    await source.query("XA ROLLBACK 'left'");
    expect(codes(findings)).toEqual(["xa-prepared"]);
  });

  it("does not matter to a copy without a follow when it is the binlog's", async () => {
    await source.query("SET GLOBAL binlog_row_image='MINIMAL'; SET GLOBAL gtid_mode='ON_PERMISSIVE'; REVOKE REPLICATION SLAVE, REPLICATION CLIENT ON *.* FROM least");
    const findings = await check({ ...SHOP, mode: "copy" }, least());
    await source.query("SET GLOBAL binlog_row_image='FULL'; SET GLOBAL gtid_mode='ON'; GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO least");
    expect(findings).toEqual([]);
  });
});

describe("tables", () => {
  beforeAll(async () => {
    await source.query(`CREATE DATABASE odd; USE odd;
      CREATE TABLE nokey (a INT, UNIQUE KEY (a)); CREATE TABLE nothing (a INT); CREATE TABLE isam (id INT PRIMARY KEY) ENGINE=MyISAM;
      CREATE TABLE good (id INT PRIMARY KEY, region VARCHAR(10), g INT AS (id + 1), hidden INT INVISIBLE); CREATE VIEW seen AS SELECT 1 AS one;
      CREATE TABLE child (id INT PRIMARY KEY, good INT, FOREIGN KEY out_of (good) REFERENCES good (id))`);
  });

  it("have a key (case 24) and an engine with transactions", async () => {
    const findings = await check(tables({ schema: "odd", include: ["*"], exclude: ["seen", "child"] }));
    expect(codes(findings)).toEqual(["table-engine", "table-key", "table-key", "foreign-key-child"]);
    expect(findings.map((f) => f.message).join()).toMatch(/odd\.isam.*odd\.nokey.*may be NULL.*odd\.nothing/s);
    expect(findings[1]?.cure).toContain("ALTER TABLE `odd`.`nokey`");
  });

  it("are tables: a view is refused by its name and passed over by a pattern, with a word", async () => {
    expect(codes(await check(tables({ schema: "odd", table: "seen" })))).toEqual(["table-kind"]);
    const [found, ...others] = await check(tables({ schema: "odd", include: ["s*", "good", "child"] }));
    expect(others).toEqual([expect.objectContaining({ code: "not-a-table", severity: "warning" })]);
    expect(found?.code).toBe("pattern-empty");
  });

  it("are told when an option ties them to their server", async () => {
    await source.query("CREATE TABLESPACE apart ADD DATAFILE 'apart.ibd'; CREATE TABLE odd.tied (id INT PRIMARY KEY, c VARCHAR(20) DEFAULT 'DATA DIRECTORY=') COMMENT 'TABLESPACE' TABLESPACE apart");
    const findings = await check(tables({ schema: "odd", table: "tied" }));
    await source.query("DROP TABLE odd.tied; DROP TABLESPACE apart");
    expect(findings).toMatchObject([{ code: "table-option", severity: "warning", message: expect.stringContaining("TABLESPACE") }]);
  });

  it("are told when a foreign key leads out of the selection, either way", async () => {
    expect(await check(tables({ schema: "odd", table: "child" }))).toEqual([expect.objectContaining({ code: "foreign-key-parent", severity: "warning" })]);
    expect(await check(tables({ schema: "odd", table: "good" }))).toEqual([expect.objectContaining({ code: "foreign-key-child", severity: "warning" })]);
    expect(codes(await check(tables({ schema: "odd", include: ["good", "child"] })))).toEqual([]);
    expect(codes(await check(tables({ schema: "odd", table: "child" }, { schema: "odd", table: "good", targetTable: "better" })))).toEqual(["foreign-key-parent"]);
  });

  it("have filters that both servers take", async () => {
    const where = (text: string) => check(tables({ schema: "odd", table: "child" }, { schema: "odd", table: "good", targetTable: "good", where: text }));
    for (const good of ["region = 'ä' OR id > 3", "hidden IS NULL", "g = 2", "`good`.region LIKE 'x%'", "region IN ('a', 'b')\n", "region REGEXP '^e'"]) expect(await where(good)).toEqual([]);
    for (const bad of ["nope = 1", "region =", "id, region", "count(*) > 1", "nofunc(id)", "id > 1) OR (1 = 1", "id > 1 -- x", "id > 1; SELECT 2", "other.id = 1", "id IN (SELECT 1)"])
      expect([bad, ...codes(await where(bad))]).toEqual([bad, "where"]);
    // A name with the source's schema or table means nothing on the target.
    expect(codes(await check(tables({ schema: "odd", table: "good", targetTable: "fine", where: "good.id = 1" }, { schema: "odd", table: "child", targetTable: "c" }))).filter((code) => code === "where")).toEqual(["where"]);
  });

  it("know whether their target's place is free", async () => {
    await target.query(`CREATE DATABASE odd; USE odd; CREATE TABLE good (id INT PRIMARY KEY, region VARCHAR(10), g INT AS (id + 1), hidden INT INVISIBLE)`);
    const only = (options: object, mode = "copy+follow") => check({ mode, ...tables({ schema: "odd", include: ["good", "child"] }), options });
    expect(codes(await only({}))).toEqual([]);
    await target.query("INSERT INTO odd.good (id) VALUES (1)");
    const [full, ...others] = await only({});
    expect([full?.code, others]).toEqual(["target-not-empty", []]);
    expect(full?.message).toContain("odd.good");
    expect(await only({ existingTarget: "resume" })).toEqual([]);
    expect(await only({ existingTarget: "replace" })).toEqual([]);
    await target.query("ALTER TABLE odd.good MODIFY region VARCHAR(5), ADD UNIQUE KEY (region); CREATE TRIGGER odd.tr BEFORE INSERT ON odd.good FOR EACH ROW SET NEW.region = 'x'");
    expect(codes(await only({ existingTarget: "resume" }))).toEqual(["target-column-differs", "target-unique-extra", "target-trigger"]);
    expect(await only({ existingTarget: "replace" })).toEqual([]);
    await target.query("DROP TABLE odd.good; CREATE VIEW odd.good AS SELECT 1 AS id");
    expect(codes(await only({ existingTarget: "replace" }))).toEqual(["target-kind"]);
    await target.query("DROP DATABASE odd");
  });

  it("are not their own target, on one server under two names", async () => {
    const connections = { SRC: source.server.url, DST: source.server.url };
    expect(codes(await check(tables({ schema: "odd", table: "good" }, { schema: "odd", table: "child" }), connections))).toEqual(["target-is-source", "target-is-source"]);
    expect(codes(await check(tables({ schema: "odd", include: ["good", "child"], targetSchema: "odd2" }), connections))).toEqual([]);
    expect(codes(await check(tables({ schema: "odd", include: ["good", "child"], targetSchema: "drover" }, { schema: "sys", table: "sys_config", targetSchema: "x" }))).sort()).toEqual(["system-schema", "target-is-state"]);
  });
});

describe("a follow alone", () => {
  it("begins where the source can go on from, with the tables there", async () => {
    const uuid = (await source.query("SELECT @@server_uuid AS uuid"))[0]?.["uuid"] as string;
    const executed = (await source.query("SELECT @@gtid_executed AS position"))[0]?.["position"] as string;
    const follow = (startPosition: string) => check({ mode: "follow", startPosition, ...tables({ schema: "my_shop", include: ["codes"] }) });
    expect(codes(await follow(executed))).toEqual(["target-missing"]);
    await target.query("CREATE DATABASE my_shop; CREATE TABLE my_shop.codes (code CHAR(3) NOT NULL, UNIQUE KEY (code)); INSERT INTO my_shop.codes VALUES ('abc')");
    expect(await follow(executed)).toEqual([]);
    expect(codes(await follow("nonsense"))).toEqual(["start-position"]);
    expect(codes(await follow("0-1-5"))).toEqual(["start-position"]);
    expect(codes(await follow(`${uuid}:1-999999`))).toEqual(["start-position-ahead"]);
    await source.query("FLUSH BINARY LOGS; PURGE BINARY LOGS BEFORE NOW() + INTERVAL 1 DAY");
    expect(codes(await follow(`${uuid}:1`))).toEqual(["start-position-purged"]);
    expect(await follow(executed)).toEqual([]);
    // The shape is that of the position: what came since may have changed it, and is followed.
    await target.query("ALTER TABLE my_shop.codes MODIFY code CHAR(4) NOT NULL");
    expect((await follow(executed)).map(({ code, severity }) => [code, severity])).toEqual([["target-column-differs", "error"]]);
    await source.query("CREATE DATABASE later; DROP DATABASE later");
    expect((await follow(executed)).map(({ code, severity }) => [code, severity])).toEqual([["target-column-differs", "warning"]]);
    await target.query("DROP DATABASE my_shop");
  });
});

describe("the state schema", () => {
  it("is of this version, and the id is free or is this migration's", async () => {
    const config = loadConfig({ DROVER_CONNECTION_DST: target.server.url });
    const connections = new Connections({ config, worker: "state-test" });
    const input = { id: "m", source: "SRC", target: "DST", ...tables({ schema: "my_shop" }) };
    await connections.use("DST", "target", new AbortController().signal, async (session) => {
      await ensureStateSchema(session, "drover");
      await new MigrationStore("drover").create(session, input, parseMigrationSpec(input));
    });
    connections.close();
    await target.query("CREATE DATABASE my_shop; CREATE TABLE my_shop.codes (code CHAR(3) NOT NULL, UNIQUE KEY (code)); INSERT INTO my_shop.codes VALUES ('abc')");
    // The same spec again is a repeated start, which finds its own rows.
    expect(await check(input)).toEqual([]);
    expect(codes(await check({ ...input, options: { chunkRows: 5 } }))).toEqual(["migration-conflict", "target-not-empty"]);
    expect(codes(await check({ ...input, id: "other" }))).toEqual(["target-not-empty"]);
    await target.query("UPDATE drover.meta SET version = 99");
    expect(codes(await check({ ...input, id: "other" }))).toEqual(["state-version", "target-not-empty"]);
    await target.query("DROP DATABASE drover; DROP DATABASE my_shop");
  });
});
