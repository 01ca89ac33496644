/** Preflight on servers with settings that only a restart changes: everything wrong at once, and MariaDB. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openServers, type Servers } from "../../scripts/servers/index.js";
import { blocking, type Finding } from "../../src/shared/preflight/index.js";
import { PreflightServer, codes, preflight } from "./preflight-support.js";

let servers: Servers;
/** No binlog, everything about it wrong, foreign keys inside InnoDB, read-only, small packets. */
let wrong: PreflightServer;
/** A good MySQL but for its binlog filters. */
let filtered: PreflightServer;
let maria: PreflightServer;

const FAMILY = `CREATE TABLE parent (id INT PRIMARY KEY, note VARCHAR(10)) CHARSET latin1;
  CREATE TABLE child (id INT PRIMARY KEY, parent INT, CONSTRAINT act FOREIGN KEY (parent) REFERENCES parent (id) ON DELETE SET NULL) CHARSET latin1;`;

beforeAll(async () => {
  servers = await openServers();
  const opened = await Promise.all([
    servers.mysql({
      name: "preflight-wrong",
      config: {
        log_bin: false, binlog_format: "MIXED", binlog_row_image: "MINIMAL", binlog_row_metadata: "MINIMAL", binlog_row_value_options: "PARTIAL_JSON", binlog_expire_logs_seconds: 600,
        gtid_mode: false, enforce_gtid_consistency: false, innodb_native_foreign_keys: true, local_infile: false, max_allowed_packet: "1M", innodb_buffer_pool_size: "32M",
      },
    }),
    servers.mysql({ name: "preflight-filtered", config: { binlog_ignore_db: "hidden", innodb_buffer_pool_size: "32M" } }),
    servers.mysql({ name: "preflight-maria", flavor: "mariadb", config: { binlog_do_db: "seen", innodb_buffer_pool_size: "32M" } }),
  ]);
  [wrong, filtered, maria] = (await Promise.all(opened.map((server) => PreflightServer.open(server)))) as [PreflightServer, PreflightServer, PreflightServer];
  await wrong.query(`CREATE DATABASE shop; USE shop; ${FAMILY} SET GLOBAL super_read_only=ON`);
  await filtered.query("CREATE DATABASE hidden; CREATE TABLE hidden.t (id INT PRIMARY KEY); CREATE DATABASE shop; CREATE TABLE shop.t (id INT PRIMARY KEY, s VARCHAR(10) COLLATE utf8mb4_0900_as_cs)");
  await filtered.query("CREATE DATABASE lab CHARACTER SET latin1; CREATE TABLE lab.measured (id INT PRIMARY KEY, f FLOAT, plain DECIMAL(5,2), `d d` DOUBLE, r DOUBLE AS (`d d` * 2)); CREATE TABLE lab.counted (id INT PRIMARY KEY)");
  await maria.query(`CREATE DATABASE seen; USE seen; ${FAMILY} CREATE SEQUENCE numbers; CREATE TABLE past (id INT PRIMARY KEY) WITH SYSTEM VERSIONING; CREATE DATABASE unseen; CREATE TABLE unseen.t (id INT PRIMARY KEY, u UUID) CHARSET latin1`);
}, 120_000);
afterAll(async () => {
  for (const server of [wrong, filtered, maria]) await server?.[Symbol.asyncDispose]();
  await servers?.close();
});

const between = (source: PreflightServer, target: PreflightServer, spec: Record<string, unknown>) =>
  preflight({ connections: { SRC: source.server.url, DST: target.server.url }, spec });
const errors = (findings: Finding[]) => codes(blocking(findings));

describe("a server with everything wrong", () => {
  it("is told everything at once as a source, and is left as it was", async () => {
    const before = await wrong.snapshot();
    const findings = await between(wrong, filtered, { tables: [{ schema: "shop" }] });
    expect(codes(findings)).toEqual([
      "binlog-off", "binlog-format", "binlog-row-image", "binlog-row-metadata", "binlog-row-value-options", "gtid-consistency", "gtid-mode", "binlog-retention", "foreign-key-cascade",
    ]);
    for (const finding of findings) {
      expect(finding.message).toContain("SRC");
      expect(finding.cure).toMatch(/SRC/);
    }
    expect(await wrong.snapshot()).toEqual(before);
  });

  it("may be copied from without a follow, and is told as a target what is wrong there", async () => {
    expect(await between(wrong, filtered, { mode: "copy", tables: [{ schema: "shop" }] })).toEqual([]);
    expect(codes(await between(filtered, wrong, { tables: [{ schema: "shop", targetSchema: "shop2" }] }))).toEqual(["target-read-only", "local-infile", "packet-size"]);
  });
});

describe("binlog filters", () => {
  it("are told when they hide a schema that is selected", async () => {
    expect(codes(await between(filtered, filtered, { tables: [{ schema: "hidden", targetSchema: "h2" }] }))).toEqual(["binlog-filter"]);
    expect(codes(await between(filtered, filtered, { tables: [{ schema: "shop", targetSchema: "h2" }] }))).toEqual([]);
  });
});

describe("MariaDB", () => {
  it("passes as a source, and as a target of itself, but for what it cannot do", async () => {
    const before = await maria.snapshot();
    const findings = await between(maria, maria, { tables: [{ schema: "seen", include: ["parent", "child"], targetSchema: "seen2" }] });
    expect(codes(findings)).toEqual(["foreign-key-cascade"]);
    expect(findings[0]?.message).toContain("MariaDB 10.");
    expect(await between(maria, maria, { tables: [{ schema: "seen", table: "parent", targetSchema: "seen2", where: "note REGEXP '^a' OR id > 1" }] })).toMatchObject([{ code: "foreign-key-child" }]);
    expect(await maria.snapshot()).toEqual(before);
  });

  it("tells filters, system-versioned tables, types and collations that do not fit", async () => {
    expect(errors(await between(maria, maria, { tables: [{ schema: "unseen", targetSchema: "u2" }] }))).toEqual(["binlog-filter"]);
    expect(errors(await between(maria, maria, { tables: [{ schema: "seen", include: ["p*"], targetSchema: "seen2" }] }))).toEqual(["table-kind"]);
    const cross = await between(filtered, maria, { tables: [{ schema: "shop", targetSchema: "u2" }] });
    expect(errors(cross)).toEqual(["collation-missing", "collation-missing"]);
    expect(blocking(cross).map((finding) => finding.message).join()).toMatch(/utf8mb4_0900_as_cs of shop\.t\.s,.*utf8mb4_0900_ai_ci of the table shop\.t/);
    expect(codes(cross)).toContain("server-flavors");
  });

  it("is told to lose the sign of -0, with the table and its columns, where rows come from MySQL", async () => {
    const signs = async (from: PreflightServer, to: PreflightServer, schema: string) => (await between(from, to, { tables: [{ schema, targetSchema: "l2" }] })).filter(({ code }) => code === "negative-zero");
    expect(await signs(filtered, maria, "lab")).toEqual([expect.objectContaining({ severity: "warning", message: expect.stringMatching(/^DST is MariaDB.*: lab\.measured has FLOAT or DOUBLE columns \(f, d d\)/) })]);
    expect(await signs(filtered, wrong, "lab")).toEqual([]);
  });

  it("knows users by its own privileges and roles, and positions by its own form", async () => {
    await maria.query("CREATE USER few IDENTIFIED BY 'pw'; CREATE ROLE reader; GRANT SELECT ON seen.* TO reader; GRANT reader TO few; GRANT BINLOG MONITOR ON *.* TO few; CREATE USER all_of_it IDENTIFIED BY 'pw'");
    const tables = [{ schema: "seen", table: "parent", targetSchema: "seen2" }];
    const few = () => preflight({ connections: { SRC: maria.url("few", "pw"), DST: maria.server.url }, spec: { tables } });
    expect(errors(await few())).toEqual(["grant-missing", "grant-missing"]);
    await maria.query("SET DEFAULT ROLE reader FOR few");
    const [finding, ...others] = blocking(await few());
    expect([finding?.message, others]).toEqual([expect.stringContaining("REPLICATION SLAVE"), []]);
    await maria.query("GRANT REPLICATION SLAVE ON *.* TO few");
    expect(errors(await few())).toEqual([]);
    const [position] = await maria.query("SELECT @@gtid_current_pos AS position");
    await maria.query("CREATE DATABASE seen2; CREATE TABLE seen2.parent (id INT PRIMARY KEY, note VARCHAR(10)) CHARSET latin1");
    const follow = async (startPosition: string) => errors(await between(maria, maria, { mode: "follow", startPosition, tables }));
    expect(await follow(position?.["position"] as string)).toEqual([]);
    expect(await follow("4bd342eb-ed22-11f1-8911-02fc00000001:1-5")).toEqual(["start-position"]);
    expect(await follow("0-1-99999999")).toEqual(["start-position-ahead"]);
    await maria.query("FLUSH BINARY LOGS");
    // The old file can go only after a checkpoint that comes a moment later.
    await expect.poll(async () => (await maria.query("PURGE BINARY LOGS BEFORE NOW() + INTERVAL 1 DAY"), (await maria.query("SHOW BINARY LOGS")).length), { timeout: 5_000 }).toBe(1);
    const [server] = await maria.query("SELECT @@server_id AS id");
    expect(await follow(`0-${server?.["id"]}-1`)).toEqual(["start-position-purged"]);
  });
});
