/**
 * MySQL and MariaDB as source and as target of each other, end to end: a share of the corpus of `npm run fidelity`, definitions in the
 * other family's words, refusals. Zones, modes and character sets of both servers, of the session that writes and of the worker differ.
 */
import { createConnection, type Connection, type RowDataPacket } from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { flavorsOf, PAIRS, PairServers } from "../../scripts/fidelity/pairs.js";
import { runPair } from "../../scripts/fidelity/run.js";
import { Results } from "../../scripts/fidelity/tally.js";
import { openServers, type Flavor, type MysqlServer, type Servers } from "../../scripts/servers/index.js";
import { createStatement } from "../../src/shared/columns/create-statement.js";
import { readTableDefinition } from "../../src/shared/columns/read-table.js";
import { sameShape } from "../../src/shared/columns/same-shape.js";
import type { TableDefinition } from "../../src/shared/columns/table-definition.js";
import { openSession } from "../../src/shared/mysql/open-session.js";
import { parseServerUrl } from "../../src/shared/mysql/server-address.js";
import { DroverClient, loadConfig } from "../../src/producers/index.js";
import { createLogger } from "../../src/shared/logger.js";
import { runWorker } from "../../src/workers/index.js";
import { ensureBuilt } from "./cli-process.js";

let servers: Servers;
let pairs: PairServers;

beforeAll(async () => {
  await ensureBuilt();
  servers = await openServers({});
  pairs = new PairServers(servers);
  await Promise.all([pairs.source("mysql"), pairs.target("mysql"), pairs.source("mariadb"), pairs.target("mariadb")]);
}, 180_000);
afterAll(async () => {
  await servers?.close();
});

/** One of each kind of type. */
const SHARE = /^(decimal\(65,30\)|float$|date$|time\(6\)|timestamp\(6\)|enum\('a'|set\('','x'|geometry$|json|vector\(4\)|uuid|varchar\(4000\) comp|text in (latin1|gbk|utf16)$)/;

describe("values are the same on both servers", () => {
  it.each(PAIRS)("%s: zero dates (case 27), bytes that are no characters (case 28), extremes and JSON (case 29), SRIDs and time zones (case 30)", async (pair) => {
    const { source, target } = flavorsOf(pair);
    const results = new Results();
    await runPair({ source: await pairs.source(source), target: await pairs.target(target), redisUrl: inject("servers").redis, pair, share: 60, only: SHARE, results, whole: false, patience: 60_000, note: () => undefined });
    expect(results.failures).toEqual([]);
    expect(results.total.passed).toBeGreaterThan(500);
  }, 120_000);
});

async function admin<T>(server: MysqlServer, work: (db: Connection) => Promise<T>): Promise<T> {
  const db = await createConnection({ uri: server.url, multipleStatements: true });
  try {
    return await work(db);
  } finally {
    db.destroy();
  }
}

async function findings(from: Flavor, to: Flavor, create: string): Promise<{ code: string; message: string; cure: string }[]> {
  const [source, target] = await Promise.all([pairs.source(from), pairs.target(to)]);
  await admin(source, (db) => db.query(`SET sql_mode=''; DROP DATABASE IF EXISTS odd; CREATE DATABASE odd CHARACTER SET utf8mb4 COLLATE utf8mb4_bin; USE odd; ${create}`));
  const client = new DroverClient({ config: loadConfig({ DROVER_REDIS_URL: inject("servers").redis, DROVER_PREFIX: "odd", DROVER_STATE_SCHEMA: "odd_state", DROVER_CONNECTION_SRC: source.url, DROVER_CONNECTION_DST: target.url }) });
  try {
    return (await client.check({ id: "odd", source: "SRC", target: "DST", tables: [{ schema: "odd" }] })).filter((finding) => finding.severity === "error");
  } finally {
    await client.close();
  }
}

describe("what the other family does not have is refused before anything begins", () => {
  it("from MariaDB: its own types", async () => {
    const found = await findings("mariadb", "mysql", "CREATE TABLE t (id INT PRIMARY KEY, u UUID, a INET4, b INET6)");
    expect(found.map(({ code, message }) => `${code} ${message}`)).toEqual(["u", "a", "b"].map((column) => expect.stringMatching(new RegExp(`^column-type DST: the column ${column} of odd\\.t is .*MySQL does not have`))));
    expect(found.every(({ cure }) => cure.includes("leave the table out"))).toBe(true);
  });

  it("from MySQL: VECTOR, indexes on expressions, collations", async () => {
    const found = await findings("mysql", "mariadb", "CREATE TABLE t (id INT PRIMARY KEY, v VECTOR(3), s VARCHAR(20) COLLATE utf8mb4_0900_as_cs, KEY e ((LOWER(s))))");
    expect(found.map(({ code }) => code).sort()).toEqual(["collation-missing", "column-type", "index-expression"]);
  });
});

/** Per family a table whose words the other one does not take, or passes over. */
const TABLES: Record<Flavor, string> = {
  mysql: `(id INT NOT NULL AUTO_INCREMENT, hidden INT INVISIBLE DEFAULT 5, g GEOMCOLLECTION, j JSON DEFAULT (JSON_OBJECT()), c INT, s VARCHAR(60) DEFAULT ') INVISIBLE geomcollection', PRIMARY KEY (id),
    KEY unseen (c) INVISIBLE, CONSTRAINT loose CHECK (c > 100) NOT ENFORCED) COMMENT='PAGE_CHECKSUM=1'`,
  mariadb: `(id INT NOT NULL AUTO_INCREMENT, hidden INT INVISIBLE DEFAULT 5, u VARCHAR(40) DEFAULT UUID(), t TEXT DEFAULT 'it''s DEFAULT x', n INT DEFAULT -7, e DATETIME(3) DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),
    x INT DEFAULT (1 + 2) COMMENT 'DEFAULT 9', z VARCHAR(90) COMPRESSED DEFAULT NULL, j JSON, PRIMARY KEY (id), KEY unseen (n) IGNORED) PAGE_COMPRESSED=1 COMMENT='PAGE_COMPRESSED=1'`,
};

describe("a definition in the other family's words", () => {
  it.each([["mysql", "mariadb"], ["mariadb", "mysql"]] as const)("from %s to %s keeps columns, defaults and indexes", async (from, to) => {
    const [source, target] = await Promise.all([pairs.source(from), pairs.target(to)]);
    for (const server of [source, target]) await admin(server, (db) => db.query("DROP DATABASE IF EXISTS words; CREATE DATABASE words CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"));
    await admin(source, (db) => db.query(`SET sql_mode=''; CREATE TABLE words.t ${TABLES[from]}`));
    const ending = new AbortController();
    const open = (server: MysqlServer, role: "source" | "target") => openSession(parseServerUrl("X", server.url), { role, signal: ending.signal, worker: "test", deployment: "test" });
    const [at, there] = await Promise.all([open(source, "source"), open(target, "target")]);
    try {
      const definition = (await readTableDefinition(at, "words", "t")) as TableDefinition;
      for (const statement of createStatement(definition, { schema: "words", table: "t", deferIndexes: false, family: to }).statements) await there.run(statement);
      const made = (await readTableDefinition(there, "words", "t")) as TableDefinition;
      expect(sameShape(definition, made)).toEqual([]);
      expect(made.columns.map(({ name, invisible }) => [name, invisible])).toEqual(definition.columns.map(({ name, invisible }) => [name, invisible]));
      expect(made.indexes.find(({ name }) => name === "unseen")?.invisible).toBe(true);
      expect(made.createStatement).not.toContain("loose");
    } finally {
      ending.abort();
    }
    const defaults = (server: MysqlServer) => admin(server, async (db) => (await db.query<RowDataPacket[]>("INSERT INTO words.t (id) VALUES (1); SELECT * FROM words.t"))[0][1] as unknown as RowDataPacket[]);
    const [wanted, found] = [await defaults(source), await defaults(target)];
    const constant = ({ u, e, ...rest }: Record<string, unknown>) => ({ ...rest, u: typeof u, e: typeof e });
    expect(constant(found[0] as RowDataPacket)).toEqual(constant(wanted[0] as RowDataPacket));
  });
});

it("a row that exceeds the target's max_allowed_packet stops with the table and its key, not with a value, and goes on when the limit is raised (case 32)", async () => {
  const [source, target] = await Promise.all([pairs.source("mysql"), pairs.target("mysql")]);
  await admin(source, (db) => db.query("SET sql_mode=''; DROP DATABASE IF EXISTS packets; CREATE DATABASE packets CHARACTER SET utf8mb4 COLLATE utf8mb4_bin; CREATE TABLE packets.big (tenant INT, id INT, v LONGTEXT, PRIMARY KEY (tenant, id)); INSERT INTO packets.big VALUES (1, 1, 'small')"));
  await admin(target, (db) => db.query("SET GLOBAL max_allowed_packet=1048576"));
  const env = { DROVER_REDIS_URL: inject("servers").redis, DROVER_PREFIX: "packets", DROVER_STATE_SCHEMA: "packets_state", DROVER_CONNECTION_SRC: source.url, DROVER_CONNECTION_DST: target.url };
  const client = new DroverClient({ config: loadConfig(env) });
  const worker = await runWorker({ config: loadConfig(env), log: createLogger("silent") });
  try {
    await client.startMigration({ id: "packets", source: "SRC", target: "DST", tables: [{ schema: "packets" }] });
    await client.waitFor("packets", "streaming", { timeout: 60_000 });
    await admin(source, (db) => db.query("INSERT INTO packets.big VALUES (1, 2, REPEAT('secret', 300000))"));
    await expect(client.waitFor("packets", "caught-up", { timeout: 60_000 })).rejects.toMatchObject({ code: "MIGRATION_FAILED" });
    const { error } = await client.status("packets");
    expect(error?.code).toBe("ROW_REFUSED");
    expect(error?.message).toMatch(/packets\.big \(key tenant, id\).*max_allowed_packet.*raise max_allowed_packet/);
    expect(error?.message).not.toContain("secret");
    await admin(target, (db) => db.query("SET GLOBAL max_allowed_packet=67108864"));
    // Sessions keep the limit that they began with; idle ones end after seconds.
    await new Promise((resolve) => setTimeout(resolve, 8_000));
    await client.resume("packets");
    await client.waitFor("packets", "caught-up", { timeout: 60_000 });
    const [rows] = await admin(target, (db) => db.query<RowDataPacket[]>("SELECT id, LENGTH(v) AS bytes FROM packets.big ORDER BY id"));
    expect(rows).toEqual([{ id: 1, bytes: 5 }, { id: 2, bytes: 1_800_000 }]);
  } finally {
    await worker.close();
    await client.close();
    await admin(target, (db) => db.query("SET GLOBAL max_allowed_packet=67108864"));
  }
}, 120_000);
