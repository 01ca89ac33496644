/** Checks of settings that a test server cannot have: other versions, clocks, page sizes, the case of names. */
import { describe, expect, it } from "vitest";
import type { TableDefinition } from "../../../src/shared/columns/table-definition.js";
import { parseMigrationSpec } from "../../../src/shared/contracts/spec.js";
import { binlogRetention } from "../../../src/shared/preflight/checks/binlog-retention.js";
import { binlogSettings } from "../../../src/shared/preflight/checks/binlog-settings.js";
import { collations } from "../../../src/shared/preflight/checks/collations.js";
import { pairSettings } from "../../../src/shared/preflight/checks/pair-settings.js";
import { tableShapes } from "../../../src/shared/preflight/checks/table-shapes.js";
import { targetWritable } from "../../../src/shared/preflight/checks/target-writable.js";
import { versions } from "../../../src/shared/preflight/checks/versions.js";
import type { Check } from "../../../src/shared/preflight/check.js";
import type { PlannedTable, PreflightContext } from "../../../src/shared/preflight/context.js";
import { Privileges } from "../../../src/shared/preflight/privileges.js";
import type { ServerFacts } from "../../../src/shared/preflight/server-facts.js";
import { parseServerVersion } from "../../../src/shared/preflight/server-version.js";

const GOOD = { log_bin: "ON", server_id: "1", binlog_format: "ROW", binlog_row_image: "FULL", binlog_row_metadata: "FULL", gtid_mode: "ON", enforce_gtid_consistency: "ON", lower_case_table_names: "0", local_infile: "ON", max_allowed_packet: "67108864" };

interface Server {
  version?: string;
  variables?: Record<string, string | undefined>;
  clockOffset?: number;
  collations?: string[];
}

function server(name: string, { version = "8.4.3", variables = {}, clockOffset = 0, collations: known = [] }: Server): ServerFacts {
  const isMariaDb = /mariadb/i.test(version);
  const set = Object.entries({ ...GOOD, ...variables }).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    name, account: "'drover'@'%'", version: parseServerVersion(version, isMariaDb), variables: new Map(set), clockOffset, identity: [name],
    privileges: new Privileges(["GRANT SELECT ON *.* TO `drover`@`%`"], { partialRevokes: false, roles: false, ignoreCase: false }),
    collations: new Set(known), ignoreCase: set.some(([key, value]) => key === "lower_case_table_names" && value !== "0"),
  };
}

async function run(check: Check, sides: { source?: Server; target?: Server; tables?: PlannedTable[] }) {
  const context = {
    spec: parseMigrationSpec({ id: "m", source: "SRC", target: "DST", tables: [{ schema: "s" }] }), follows: true, tables: sides.tables ?? [],
    source: server("SRC", sides.source ?? {}), target: server("DST", sides.target ?? {}),
  } as unknown as PreflightContext;
  return await check.run(context);
}
const codes = async (...args: Parameters<typeof run>) => (await run(...args)).map((finding) => finding.code);

function table(definition: Partial<TableDefinition>, target = { schema: "s", table: "t" }): PlannedTable {
  const whole = { schema: "s", table: "t", engine: "InnoDB", columns: [], indexes: [], key: { index: "PRIMARY", columns: ["id"] }, createStatement: "CREATE TABLE `t` (\n  `id` int\n) ENGINE=InnoDB", rowsEstimated: 0, rowBytesEstimated: 0, ...definition };
  return { source: { schema: "s", table: "t" }, target, where: null, definition: whole, unreadable: null, existing: null };
}
const column = (name: string, dataType: string, collation: string | null = null) => ({ name, dataType, columnType: dataType, charset: collation?.split("_")[0] ?? null, collation, nullable: false, unsigned: false, generated: null, invisible: false, autoIncrement: false });

describe("versions", () => {
  it.each([
    ["5.6.51-log", ["server-version"]],
    ["5.7.44-log", []],
    ["8.0.36-28", []],
    ["9.7.4-2", []],
    ["26.7.0", ["server-version-new"]],
    ["5.5.5-10.5.9-MariaDB-log", ["server-version"]],
    ["10.6.1-MariaDB", []],
    ["5.5.5-10.11.2-MariaDB-1:10.11.2+maria~ubu2204", []],
  ])("%s: %j", async (version, expected) => expect(await codes(versions, { source: { version }, target: { version } })).toEqual([...expected, ...expected]));

  it("warns where the target is older or of the other flavour", async () => {
    expect(await codes(versions, { source: { version: "9.1.0" }, target: { version: "8.4.0" } })).toEqual(["target-older"]);
    expect(await codes(versions, { source: { version: "8.0.30" }, target: { version: "11.4.2-MariaDB" } })).toEqual(["server-flavors"]);
  });
});

describe("binlog settings of other versions", () => {
  it("says that MySQL 5.7 cannot be followed, and how it can be moved", async () => {
    const [finding, ...others] = await run(binlogSettings, { source: { version: "5.7.44", variables: { binlog_row_metadata: undefined } } });
    expect([finding?.code, others]).toEqual(["binlog-row-metadata", []]);
    expect(finding?.cure).toContain('mode "copy"');
  });
  it("takes a version without binlog_format for one that knows ROW only", async () => expect(await codes(binlogSettings, { source: { variables: { binlog_format: undefined } } })).toEqual([]));
  it("asks no GTID mode of MariaDB, but the temporal format", async () => {
    const variables = { gtid_mode: undefined, enforce_gtid_consistency: undefined };
    expect(await codes(binlogSettings, { source: { version: "10.11.2-MariaDB", variables } })).toEqual([]);
    expect(await codes(binlogSettings, { source: { version: "10.11.2-MariaDB", variables: { ...variables, mysql56_temporal_format: "OFF", binlog_row_image: "FULL_NODUP" } } })).toEqual(["binlog-row-image", "temporal-format"]);
    expect(await codes(binlogSettings, { source: { version: "10.11.2-MariaDB", variables: { ...variables, rpl_semi_sync_master_enabled: "ON", rpl_semi_sync_master_wait_point: "AFTER_SYNC" } } })).toEqual(["semi-sync-wait-point"]);
    expect(await codes(binlogSettings, { source: { version: "10.11.2-MariaDB", variables: { ...variables, rpl_semi_sync_master_enabled: "OFF", rpl_semi_sync_master_wait_point: "AFTER_SYNC" } } })).toEqual([]);
  });
  it("wants a server_id, and names every step to GTIDs", async () => {
    const findings = await run(binlogSettings, { source: { version: "5.7.44", variables: { server_id: "0", gtid_mode: "OFF_PERMISSIVE" } } });
    expect(findings.map((f) => f.code)).toEqual(["server-id", "gtid-mode"]);
    expect(findings[1]?.cure).toMatch(/SET GLOBAL gtid_mode = 'ON_PERMISSIVE'.*SET GLOBAL gtid_mode = ON;/);
    expect(findings[1]?.cure).not.toMatch(/OFF_PERMISSIVE/);
  });
});

it.each([
  [{ binlog_expire_logs_seconds: "2592000" }, []],
  [{ binlog_expire_logs_seconds: "0", expire_logs_days: "0" }, []],
  [{ binlog_expire_logs_seconds: "3599" }, ["binlog-retention"]],
  [{ binlog_expire_logs_seconds: "60", binlog_expire_logs_auto_purge: "OFF" }, []],
  [{ expire_logs_days: "0.01" }, ["binlog-retention"]],
  [{ expire_logs_days: "7" }, []],
])("binlog retention %j: %j", async (variables, expected) => expect(await codes(binlogRetention, { source: { variables } })).toEqual(expected));

describe("settings of both servers", () => {
  it("compares the clocks with ours and with each other, each difference once", async () => {
    expect(await codes(pairSettings, { source: { clockOffset: 4_000 }, target: { clockOffset: 100 } })).toEqual([]);
    expect(await codes(pairSettings, { source: { clockOffset: 4_000 }, target: { clockOffset: -4_000 } })).toEqual(["clock"]);
    const found = await run(pairSettings, { source: { clockOffset: -3_600_000 } });
    expect(found).toMatchObject([{ code: "clock", severity: "warning", message: expect.stringContaining("3600.0 s") }]);
  });
  it("refuses names that the target would change, and tells of other rules", async () => {
    const folding = { variables: { lower_case_table_names: "1" } };
    expect(await codes(pairSettings, { target: folding, tables: [table({}, { schema: "Shop", table: "t" }), table({})] })).toEqual(["name-case", "name-case"]);
    expect(await codes(pairSettings, { target: folding, source: folding })).toEqual([]);
  });
  it("warns of a smaller page size, and of MariaDB's read_only by its newer values", async () => {
    expect(await codes(targetWritable, { source: { variables: { innodb_page_size: "16384" } }, target: { variables: { innodb_page_size: "8192" } } })).toEqual(["target-row-size"]);
    expect(await codes(targetWritable, { target: { variables: { read_only: "NO_LOCK" } } })).toEqual(["target-read-only"]);
    expect(await codes(targetWritable, { target: { variables: { innodb_read_only: "ON" } } })).toEqual(["target-read-only"]);
  });
});

describe("tables of other servers", () => {
  it("names every column of a type that is not known", async () => {
    const findings = await run(tableShapes, { tables: [table({ columns: [column("id", "int"), column("x", "hologram"), column("y", "hologram")] })] });
    expect(findings.map((f) => f.code)).toEqual(["column-type", "column-type"]);
    expect(findings[0]?.message).toContain("s.t: column x");
  });
  it("takes utf8 for utf8mb3 where the target does, and lists who uses a missing collation", async () => {
    const old = table({ columns: [column("a", "varchar", "utf8_general_ci")] });
    expect(await codes(collations, { tables: [old], target: { version: "8.0.36", collations: ["utf8mb3_general_ci"] } })).toEqual([]);
    expect(await codes(collations, { tables: [old], target: { version: "8.0.20", collations: ["utf8_general_ci"] } })).toEqual([]);
    const newer = table({ columns: ["a", "b", "c", "d", "e", "f"].map((name) => column(name, "varchar", "utf8mb4_uca1400_ai_ci")) });
    const [finding, ...others] = await run(collations, { tables: [newer], target: { version: "8.4.1" } });
    expect(others).toEqual([]);
    expect(finding?.message).toMatch(/utf8mb4_uca1400_ai_ci of s\.t\.a, .* and 1 more$/);
  });
});
