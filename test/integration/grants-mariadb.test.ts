/** What `drover grants --mariadb` prints is enough on MariaDB: a whole migration with objects, DDL, a diff with its repair, and a cut-over, by users that have nothing else. */
import { createConnection, type Connection } from "mysql2/promise";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { PairServers } from "../../scripts/fidelity/pairs.js";
import { openServers, type MysqlServer, type Servers } from "../../scripts/servers/index.js";
import { createLogger } from "../../src/shared/logger.js";
import { DroverClient, loadConfig, type MigrationSpecInput } from "../../src/producers/index.js";
import { parseMigrationSpec } from "../../src/shared/contracts/spec.js";
import { leastPrivilegeGrants } from "../../src/shared/preflight/grants.js";
import { runWorker } from "../../src/workers/index.js";
import { until } from "../support/fault-scene.js";

const PASSWORD = "s3cret-Passw0rd";
const SPEC: MigrationSpecInput = { id: "m", source: "SRC", target: "DST", tables: [{ schema: "my_shop" }], objects: ["views", "routines", "triggers", "events"] };

let servers: Servers;
let source: MysqlServer;
let target: MysqlServer;
const admins: Connection[] = [];

beforeAll(async () => {
  servers = await openServers({});
  const pairs = new PairServers(servers);
  [source, target] = await Promise.all([pairs.source("mariadb"), pairs.target("mariadb")]);
}, 180_000);
afterAll(async () => {
  for (const db of admins) db.destroy();
  await servers?.close();
});

async function admin(server: MysqlServer): Promise<Connection> {
  const db = await createConnection({ uri: server.url, multipleStatements: true });
  admins.push(db);
  return db;
}

function urlOf(server: MysqlServer): string {
  const { hostname, port } = new URL(server.url);
  return `mysql://least:${PASSWORD}@${hostname}:${port}/`;
}

it("a whole migration with exactly these rights", async () => {
  const [from, to] = [await admin(source), await admin(target)];
  const grants = leastPrivilegeGrants(parseMigrationSpec(SPEC), [], "drover_least", { sourceAccount: "least", targetAccount: "least", mariaDb: { source: true, target: true } });
  // A second try begins anew.
  for (const db of [from, to]) await db.query("DROP DATABASE IF EXISTS my_shop; DROP DATABASE IF EXISTS drover_least; DROP USER IF EXISTS least");
  await from.query(`SET sql_mode=''; CREATE DATABASE my_shop CHARACTER SET utf8mb4; USE my_shop; CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, n VARCHAR(20), KEY (n)); CREATE TABLE log (id INT PRIMARY KEY AUTO_INCREMENT, what VARCHAR(20));
    INSERT INTO t (n) SELECT CONCAT('n', seq) FROM seq_1_to_6000; CREATE VIEW v AS SELECT id FROM t; CREATE PROCEDURE p() SELECT COUNT(*) FROM t; CREATE FUNCTION f() RETURNS INT DETERMINISTIC RETURN 1;
    CREATE TRIGGER tr AFTER INSERT ON t FOR EACH ROW INSERT INTO log (what) VALUES (NEW.n); CREATE EVENT e ON SCHEDULE EVERY 1 DAY STARTS '2020-01-01 00:00:00' DO INSERT INTO log (what) VALUES ('e')`);
  for (const db of [from, to]) await db.query(`CREATE USER least IDENTIFIED BY '${PASSWORD}'; SET GLOBAL log_bin_trust_function_creators=ON`);
  for (const grant of grants.source) await from.query(grant);
  for (const grant of grants.target) await to.query(grant);
  const config = loadConfig({ DROVER_REDIS_URL: inject("servers").redis, DROVER_PREFIX: "least", DROVER_STATE_SCHEMA: "drover_least", DROVER_CONNECTION_SRC: urlOf(source), DROVER_CONNECTION_DST: urlOf(target) });
  const worker = await runWorker({ config, log: createLogger("silent") });
  const client = new DroverClient({ config });
  try {
    expect((await client.check(SPEC)).filter((finding) => finding.severity === "error")).toEqual([]);
    await client.startMigration(SPEC, { preflight: true });
    await client.waitFor("m", "streaming", { timeout: 60_000 });
    await from.query("ALTER TABLE t ADD COLUMN more INT, ADD KEY (more); UPDATE t SET more=id; RENAME TABLE log TO journal; RENAME TABLE journal TO log; TRUNCATE TABLE log; INSERT INTO t (n) VALUES ('last')");
    await client.waitFor("m", "caught-up", { timeout: 60_000 });
    await to.query("UPDATE my_shop.t SET n='other' WHERE id=5");
    const { diffId } = await client.startDiff("m");
    expect(await client.waitForDiff("m", diffId, { timeout: 60_000 })).toMatchObject({ hasMismatch: true });
    expect(await client.repairDiff("m", diffId, { timeout: 60_000 })).toMatchObject({ state: "completed", repaired: 1 });
    const again = await client.startDiff("m");
    expect(await client.waitForDiff("m", again.diffId, { timeout: 60_000 })).toMatchObject({ hasMismatch: false });
    expect(await client.cutover("m", { timeout: 60_000 })).toMatchObject({ state: "completed", left: [] });
    for (const query of ["SELECT COUNT(*) AS n, SUM(CRC32(CONCAT_WS(',', id, n, more))) AS sum FROM my_shop.t", "SELECT * FROM my_shop.log"]) await until(async () => JSON.stringify((await from.query(query))[0]) === JSON.stringify((await to.query(query))[0]), query);
    const [objects] = await to.query("SELECT (SELECT COUNT(*) FROM information_schema.VIEWS WHERE TABLE_SCHEMA='my_shop') AS v, (SELECT COUNT(*) FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA='my_shop') AS r, (SELECT COUNT(*) FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA='my_shop') AS t, (SELECT COUNT(*) FROM information_schema.EVENTS WHERE EVENT_SCHEMA='my_shop') AS e");
    expect(objects).toMatchObject([{ v: 1, r: 2, t: 1, e: 1 }]);
    await client.remove("m");
  } finally {
    await client.close();
    await worker.close();
  }
}, 180_000);
