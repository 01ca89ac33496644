/** Cut-over on servers of its own, for it makes the source read-only: whole, refused, too late, and with workers that die at every step. */
import { createConnection } from "mysql2/promise";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openServers, type MysqlServer, type RedisServer, type Servers } from "../../scripts/servers/index.js";
import { CUTOVER_STEPS, cutoverReport } from "../../src/shared/contracts/cutover.js";
import { DroverError } from "../../src/shared/errors.js";
import type { MigrationSpecInput } from "../../src/producers/index.js";
import type { Hooks } from "../../src/workers/hooks.js";
import { FaultScene, Loop, until, type SceneServers } from "../support/fault-scene.js";
import { cli } from "../unit/producers/cli/fake-terminal.js";
import { drover, ensureBuilt } from "./cli-process.js";

const CONFIG = { innodb_flush_log_at_trx_commit: 2, sync_binlog: 0 };
const TABLES = `CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, n VARCHAR(40)); CREATE TABLE log (id INT PRIMARY KEY AUTO_INCREMENT, what VARCHAR(40));
  INSERT INTO t (n) VALUES ('a'),('b'),('c'); INSERT INTO log VALUES (5000,'x'); DELETE FROM log;
  CREATE VIEW v AS SELECT id FROM t; CREATE EVENT e ON SCHEDULE EVERY 1 DAY STARTS '2020-01-01 00:00:00' DO INSERT INTO log (what) VALUES ('e');`;
const TRIGGER = "CREATE TRIGGER tr AFTER INSERT ON t FOR EACH ROW INSERT INTO log (what) VALUES (NEW.n);";

let servers: Servers;
let source: MysqlServer;
let target: MysqlServer;
let redis: RedisServer;
let urls: SceneServers;

beforeAll(async () => {
  await ensureBuilt();
  servers = await openServers({});
  [source, target, redis] = await Promise.all([servers.mysql({ name: "source", config: { ...CONFIG, event_scheduler: "OFF" } }), servers.mysql({ name: "target", config: CONFIG }), servers.redis()]);
  urls = { source: source.url, target: target.url, redis: redis.url };
}, 180_000);

afterAll(async () => {
  await servers?.[Symbol.asyncDispose]();
});

async function open(tables: string, objects: MigrationSpecInput["objects"], hooks?: Hooks): Promise<FaultScene> {
  const scene = await FaultScene.open(urls, tables);
  await scene.worker(hooks);
  await scene.client.startMigration({ id: "m", source: "SRC", target: "DST", objects, options: { definer: "current" }, tables: [{ schema: scene.schema }] });
  await scene.phase("streaming");
  return scene;
}

async function switches(scene: FaultScene, side: "source" | "target" = "source"): Promise<string> {
  const [row] = await scene.sql<{ r: number; s: number }>(side, "SELECT @@GLOBAL.read_only AS r, @@GLOBAL.super_read_only AS s");
  return `${row?.r}${row?.s}`;
}

async function reopen(scene: FaultScene): Promise<void> {
  await scene.sql("source", "SET GLOBAL super_read_only=OFF; SET GLOBAL read_only=OFF");
}

async function rows(scene: FaultScene, side: "source" | "target", table: string): Promise<unknown[]> {
  return await scene.sql(side, `SELECT * FROM ${scene.schema}.${table} ORDER BY id`);
}

async function counts(scene: FaultScene, what: string): Promise<number> {
  const [row] = await scene.sql<{ n: number }>("target", `SELECT COUNT(*) AS n FROM information_schema.${what} WHERE ${what.slice(0, -1)}_SCHEMA='${scene.schema}'`);
  return Number(row?.n);
}

it("under a write load: nothing is lost, the old source follows the new one, and the way back is the same", async () => {
  await using scene = await open(TABLES, ["views", "events", "routines"]);
  try {
    // An application, which administers nothing: later administrators may write on the old source again.
    await scene.sql("source", `SET SESSION sql_log_bin=0; CREATE USER '${scene.id}_app'@'%' IDENTIFIED BY 'app'; GRANT ALL ON ${scene.schema}.* TO '${scene.id}_app'@'%'; SET SESSION sql_log_bin=1`);
    const { hostname, port } = new URL(urls.source);
    const db = await createConnection({ host: hostname, port: Number(port), user: `${scene.id}_app`, password: "app", database: scene.schema });
    let written = 0;
    const writer = new Loop(async () => {
      await db.query("INSERT INTO t (n) VALUES ('w')");
      written += 1;
    });
    await until(() => written > 20, "writes");
    const report = await scene.client.cutover("m", { readOnly: true, diff: true, reverse: "back", timeout: 90_000 });
    await writer.stop();
    await expect(db.query("INSERT INTO t (n) VALUES ('too late')")).rejects.toMatchObject({ errno: 1290 });
    db.destroy();
    expect(report).toMatchObject({ state: "completed", notes: [], error: null, readOnly: { before: { readOnly: false, superReadOnly: false }, undone: false } });
    expect(report.plan.every((step) => step.state === "done")).toBe(true);
    expect(await scene.client.showDiff("m", report.diffId ?? "")).toMatchObject({ state: "completed", hasMismatch: false });
    expect((await scene.client.status("m")).phase).toBe("completed");
    expect(await rows(scene, "target", "t")).toEqual(await rows(scene, "source", "t"));
    expect(await rows(scene, "target", "t")).toHaveLength(written + 3);
    expect([await counts(scene, "EVENTS"), (await scene.sql("target", `SHOW CREATE EVENT ${scene.schema}.e`))[0]]).toMatchObject([1, { "Create Event": expect.stringContaining("ENABLE") }]);
    // The application's first row on the new source gets the number that it would have got on the old one.
    await scene.sql("target", `INSERT INTO ${scene.schema}.log (what) VALUES ('new'); UPDATE ${scene.schema}.t SET n='changed' WHERE id<=2; DELETE FROM ${scene.schema}.t WHERE id=3`);
    expect(await rows(scene, "target", "log")).toEqual([{ id: 5001, what: "new" }]);
    await scene.client.waitFor("back", "caught-up", { timeout: 40_000 });
    for (const table of ["t", "log"]) expect(await rows(scene, "source", table)).toEqual(await rows(scene, "target", table));
    expect(await switches(scene)).toBe("10");
    await scene.client.waitFor("back", "streaming", { timeout: 40_000 });
    expect((await scene.client.status("back")).error).toBeNull();
    // And back: the old source had numbers of its own to carry.
    await scene.sql("target", `INSERT INTO ${scene.schema}.log VALUES (7000,'y'); DELETE FROM ${scene.schema}.log WHERE id=7000; SET GLOBAL event_scheduler=OFF`);
    await reopen(scene);
    expect(await scene.client.cutover("back", { readOnly: true })).toMatchObject({ state: "completed", error: null });
    await scene.sql("source", `INSERT INTO ${scene.schema}.log (what) VALUES ('old')`);
    expect(await rows(scene, "source", "log")).toEqual([{ id: 5001, what: "new" }, { id: 7001, what: "old" }]);
  } finally {
    await reopen(scene);
    await scene.sql("source", `SET SESSION sql_log_bin=0; DROP USER IF EXISTS '${scene.id}_app'@'%'; SET SESSION sql_log_bin=1`);
    await scene.sql("target", "SET GLOBAL super_read_only=OFF; SET GLOBAL read_only=OFF; SET GLOBAL event_scheduler=ON");
  }
}, 150_000);

it("triggers and the way back: they move with the application, and come back with it; who writes on a read-only source is named", async () => {
  await using scene = await open(TABLES + TRIGGER, ["triggers"]);
  const admin = `${scene.id}_a`;
  const triggers = async (side: "source" | "target") => (await scene.sql<{ n: string }>(side, `SELECT TRIGGER_NAME AS n FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA='${scene.schema}'`)).map(({ n }) => n);
  try {
    await scene.sql("source", `SET SESSION sql_log_bin=0; CREATE ROLE '${admin}_r'; GRANT CONNECTION_ADMIN ON *.* TO '${admin}_r'; CREATE USER '${admin}'@'%' IDENTIFIED BY 'a'; CREATE USER '${admin}_x'@'%' IDENTIFIED BY 'a' ACCOUNT LOCK; GRANT '${admin}_r' TO '${admin}'@'%', '${admin}_x'@'%'; SET SESSION sql_log_bin=1`);
    const look = await scene.client.cutover("m", { readOnly: true, reverse: "back" }, { dryRun: true });
    expect(look).toMatchObject({ ready: true, problems: expect.arrayContaining([expect.objectContaining({ code: "reverse-triggers", severity: "warning" })]) });
    const writers = look.problems.find((problem) => problem.code === "read-only-administrators");
    expect(writers).toMatchObject({ severity: "warning", message: expect.stringContaining(`'${admin}'@'%'`) });
    expect(writers?.message).toContain("'root'@'localhost'");
    for (const other of [`'${scene.id}'@`, `'${admin}_x'@`, `'${admin}_r'@`, "mysql.session"]) expect(writers?.message).not.toContain(other);
    // Without --reverse super_read_only stops them all.
    expect((await scene.client.cutover("m", { readOnly: true }, { dryRun: true })).problems.map((problem) => problem.code)).not.toContain("read-only-administrators");
    // What the grants do not show is told.
    await scene.sql("source", `SET SESSION sql_log_bin=0; REVOKE SELECT ON *.* FROM '${scene.id}'@'%'; GRANT SELECT ON ${scene.schema}.* TO '${scene.id}'@'%'; SET SESSION sql_log_bin=1`);
    const blind = (await scene.client.cutover("m", { readOnly: true, reverse: "back" }, { dryRun: true })).problems.find((problem) => problem.code === "read-only-administrators");
    expect(blind?.message).toMatch(/cannot be seen: .* SELECT on mysql.*connected there now: .*admin \(\d+\)/);
    await scene.sql("source", `SET SESSION sql_log_bin=0; GRANT SELECT ON *.* TO '${scene.id}'@'%'; SET SESSION sql_log_bin=1`);

    const report = await scene.client.cutover("m", { readOnly: true, reverse: "back", timeout: 90_000 });
    expect(report).toMatchObject({ state: "completed", left: [], notes: [expect.stringContaining(`${scene.schema}.tr`)] });
    expect(report.next.join("\n")).not.toContain("super_read_only=OFF,");
    expect([await triggers("source"), await triggers("target"), await switches(scene)]).toEqual([[], ["tr"], "10"]);
    await scene.sql("target", `INSERT INTO ${scene.schema}.t (n) VALUES ('new')`);
    await scene.client.waitFor("back", "caught-up", { timeout: 40_000 });
    for (const table of ["t", "log"]) expect(await rows(scene, "source", table)).toEqual(await rows(scene, "target", table));
    await scene.client.waitFor("back", "streaming", { timeout: 40_000 });
    const ahead = await scene.client.cutover("back", { readOnly: true }, { dryRun: true });
    expect(ahead.problems.find((problem) => problem.code === "read-only-administrators")?.message).toContain(`'${admin}'@'%'`);
    await reopen(scene);
    expect((await scene.client.cutover("back", { readOnly: true }, { dryRun: true })).problems.map((problem) => problem.code)).toContain("target-writable");
    await scene.sql("target", "SET GLOBAL event_scheduler=OFF");
    expect(await scene.client.cutover("back", { readOnly: true, timeout: 90_000 })).toMatchObject({ state: "completed", left: [] });
    expect(await triggers("source")).toEqual(["tr"]);
    await scene.sql("source", `INSERT INTO ${scene.schema}.t (n) VALUES ('old again')`);
    expect((await rows(scene, "source", "log")).at(-1)).toMatchObject({ what: "old again" });
  } finally {
    await reopen(scene);
    await scene.sql("source", `SET SESSION sql_log_bin=0; DROP USER IF EXISTS '${admin}'@'%', '${admin}_x'@'%'; DROP ROLE IF EXISTS '${admin}_r'; SET SESSION sql_log_bin=1`);
    await scene.sql("target", "SET GLOBAL super_read_only=OFF; SET GLOBAL read_only=OFF; SET GLOBAL event_scheduler=ON");
  }
}, 180_000);

it("the users of `grants --cutover --reverse` may do all of it", async () => {
  await using scene = await FaultScene.open(urls, "CREATE TABLE t (id INT PRIMARY KEY, n VARCHAR(40)); INSERT INTO t VALUES (1,'a')");
  const user = `${scene.id}_g`;
  const spec = { id: "m", source: "SRC", target: "DST", tables: [{ schema: scene.schema }] };
  try {
    const grants = JSON.parse((await cli(["grants", "-", "--cutover", "--reverse", "--user", user, "--json"], { stdin: JSON.stringify(spec), environment: scene.env })).stdout) as Record<"source" | "target", string[]>;
    for (const side of ["source", "target"] as const) await scene.sql(side, `SET SESSION sql_log_bin=0; ${grants[side].join(" ").replace("<password>", "'g'")} SET SESSION sql_log_bin=1`);
    for (const [name, url] of [["SRC", urls.source], ["DST", urls.target]] as const) scene.overrides[`DROVER_CONNECTION_${name}`] = `mysql://${user}:g@${new URL(url).host}/`;
    await scene.worker();
    const run = async (...args: string[]) => await drover([...args, "--json"], { env: scene.env, stdin: JSON.stringify(spec) });
    expect(await run("start", "-")).toMatchObject({ exitCode: 0 });
    expect(await run("wait", "m", "--for", "streaming", "--timeout", "60s")).toMatchObject({ exitCode: 0 });
    const done = await run("cutover", "m", "--read-only", "--reverse", "back", "--timeout", "90s");
    expect({ ...done }).toMatchObject({ exitCode: 0 });
    await scene.sql("target", `INSERT INTO ${scene.schema}.t VALUES (2,'b')`);
    expect(await run("wait", "back", "--for", "caught-up", "--timeout", "60s")).toMatchObject({ exitCode: 0 });
    expect(await rows(scene, "source", "t")).toEqual(await rows(scene, "target", "t"));
    expect(await run("wait", "back", "--for", "streaming", "--timeout", "60s")).toMatchObject({ exitCode: 0 });
    const back = await run("cutover", "back", "--dry-run", "--read-only");
    expect({ ...back }).toMatchObject({ exitCode: 0 });
  } finally {
    await reopen(scene);
    for (const side of ["source", "target"] as const) await scene.sql(side, `SET SESSION sql_log_bin=0; DROP USER IF EXISTS '${user}'@'%'; SET SESSION sql_log_bin=1`);
  }
}, 180_000);

it("looks only when asked to: everything that stands in the way at once, and nothing is changed", async () => {
  await using scene = await open(TABLES + TRIGGER, ["triggers"]);
  const before = [await switches(scene), await scene.state("SELECT (SELECT COUNT(*) FROM @state.cutovers) AS c, (SELECT COUNT(*) FROM @state.objects) AS o"), await counts(scene, "TRIGGERS")];
  const look = await drover(["cutover", "m", "--dry-run", "--read-only", "--json"], { env: scene.env });
  expect(look.exitCode).toBe(0);
  const report = cutoverReport.parse(JSON.parse(look.stdout));
  expect(report).toMatchObject({ state: "checked", ready: true, dryRun: true, error: null });
  expect(report.problems.map((problem) => [problem.code, problem.severity])).toEqual([["diff-missing", "warning"], ["objects-left", "warning"]]);
  expect(report.plan.map((step) => step.step)).toEqual(["catch-up", "read-only", "drain", "stop", "objects", "counters", "complete"]);
  await scene.sql("target", `CREATE TRIGGER ${scene.schema}.mine BEFORE INSERT ON ${scene.schema}.t FOR EACH ROW SET @x=1`);
  await scene.client.pause("m");
  const refused = await drover(["cutover", "m", "--dry-run", "--reverse", "m", "--json"], { env: scene.env });
  expect(refused.exitCode).toBe(2);
  const codes = cutoverReport.parse(JSON.parse(refused.stdout)).problems.filter((problem) => problem.severity === "error").map((problem) => problem.code);
  expect(codes).toEqual(expect.arrayContaining(["phase", "target-trigger", "reverse-id"]));
  await expect(scene.client.cutover("m")).rejects.toMatchObject({ code: "PREFLIGHT_FAILED", problems: expect.arrayContaining([expect.objectContaining({ code: "phase", cure: "drover resume m" })]) });
  await scene.sql("target", `DROP TRIGGER ${scene.schema}.mine`);
  await scene.client.resume("m");
  expect([await switches(scene), await scene.state("SELECT (SELECT COUNT(*) FROM @state.cutovers) AS c, (SELECT COUNT(*) FROM @state.objects) AS o"), await counts(scene, "TRIGGERS")]).toEqual(before);
  // What the account may not see is told, not taken for absent.
  await scene.sql("target", `SET SESSION sql_log_bin=0; REVOKE PROCESS, TRIGGER, EVENT ON *.* FROM '${scene.id}'@'%'; SET SESSION sql_log_bin=1`);
  const blind = (await scene.client.cutover("m", { readOnly: true }, { dryRun: true })).problems.filter((problem) => problem.code === "target-unseen");
  expect(blind.map((problem) => /no (\w+)$/.exec(problem.message)?.[1])).toEqual(["TRIGGER", "EVENT", "PROCESS"]);
  await scene.sql("target", `SET SESSION sql_log_bin=0; GRANT PROCESS, TRIGGER, EVENT ON *.* TO '${scene.id}'@'%'; SET SESSION sql_log_bin=1`);
  // A comparison of a part is none of the whole.
  const { diffId } = await scene.client.startDiff("m", { tables: [`${scene.schema}.t`], maxRows: 1 });
  await scene.client.waitForDiff("m", diffId, { timeout: 30_000 });
  expect((await scene.client.cutover("m", { readOnly: true }, { dryRun: true })).problems.map((problem) => problem.code)).toEqual(["diff-partial", "diff-limited", "objects-left"]);
}, 90_000);

it("what is not done in time, or is taken back, opens the source again, and the migration streams on", async () => {
  await using scene = await open(TABLES + TRIGGER, ["triggers", "views"]);
  const blocker = await scene.connect("target");
  try {
    // The applier waits for this lock.
    await blocker.query(`LOCK TABLES ${scene.schema}.t READ`);
    await scene.sql("source", `INSERT INTO ${scene.schema}.t (n) VALUES ('late')`);
    const seen = new Set<string>();
    const watch = new Loop(async () => void seen.add(await switches(scene)), 50);
    const report = await scene.client.cutover("m", { readOnly: true, timeout: 4_000, maxLag: 3_600_000 });
    await watch.stop();
    expect(report).toMatchObject({ state: "failed", readOnly: { undone: true }, error: { code: "TIMEOUT", message: expect.stringContaining("drain") } });
    expect(seen).toContain("11");
    expect(await switches(scene)).toBe("00");
    await expect(scene.client.abortCutover("m")).resolves.toMatchObject({ state: "failed" });
    // Another one, taken back by command: meanwhile nothing else may be done to the migration.
    await blocker.query("UNLOCK TABLES");
    await scene.applied();
    await until(async () => (await scene.client.status("m")).error === null, "the error of the lock to be over", 40_000);
    await blocker.query(`LOCK TABLES ${scene.schema}.t READ`);
    await scene.sql("source", `INSERT INTO ${scene.schema}.t (n) VALUES ('late')`);
    const second = scene.client.cutover("m", { readOnly: true, maxLag: 3_600_000 });
    await until(async () => (await switches(scene)) === "11", "the source to be read-only");
    for (const command of ["pause", "stop"] as const) await expect(scene.client[command]("m")).rejects.toMatchObject({ code: "WRONG_PHASE" });
    await expect(scene.client.abortCutover("m")).resolves.toMatchObject({ state: "failed", readOnly: { undone: true } });
    expect(await second).toMatchObject({ state: "failed", error: { code: "ABORTED" } });
    expect(await switches(scene)).toBe("00");
  } finally {
    blocker.destroy();
    await reopen(scene);
  }
  await scene.sql("source", `INSERT INTO ${scene.schema}.t (n) VALUES ('later')`);
  expect(await scene.differences()).toEqual([]);
  expect(await scene.client.status("m")).toMatchObject({ phase: "streaming" });
}, 120_000);

/** Dies at a point: the worker is closed by the test, its sessions with it, and what it was about to do is not done. */
class Deaths implements Hooks {
  private waiting: { at: string; reached: () => void; die: (error: Error) => void } | null = null;

  /** Resolves when a worker stands at `point`/`step`; then end that worker. */
  arm(at: string): Promise<() => void> {
    return new Promise((resolve) => {
      let die = (_: Error): void => undefined;
      const dead = new Promise<never>((_, reject) => (die = reject));
      dead.catch(() => undefined);
      this.waiting = { at, die, reached: () => resolve(() => die(new Error("died"))) };
      this.dead = dead;
    });
  }

  private dead: Promise<never> = new Promise(() => undefined);

  async at(point: string, detail: Record<string, string | number>): Promise<void> {
    if (this.waiting?.at !== `${point} ${detail["step"] ?? detail["kind"]}`) return;
    const { reached } = this.waiting;
    this.waiting = null;
    reached();
    await this.dead;
  }
}

it("a worker that dies at every step, before and after it: the next one goes on, once", async () => {
  const deaths = new Deaths();
  await using scene = await FaultScene.open(urls, TABLES + TRIGGER);
  try {
    let worker = await scene.worker(deaths);
    await scene.client.startMigration({ id: "m", source: "SRC", target: "DST", objects: ["views", "triggers", "events"], options: { definer: "current" }, tables: [{ schema: scene.schema }] });
    await scene.phase("streaming");
    const points = CUTOVER_STEPS.flatMap((step) => (step === "diff" ? [] : [`cutover:step ${step}`, ...(step === "objects" ? ["object:after-create trigger"] : []), ...(step === "events" ? ["object:after-create event"] : []), `cutover:after-step ${step}`]));
    let next = deaths.arm(points[0] as string);
    const end = scene.client.cutover("m", { readOnly: true, timeout: 100_000 });
    end.catch(() => undefined);
    for (const [i] of points.entries()) {
      const die = await next;
      const following = points[i + 1];
      if (following !== undefined) next = deaths.arm(following);
      const closing = scene.close(worker);
      die();
      await closing;
      worker = await scene.worker(deaths);
    }
    const report = await end;
    expect(report).toMatchObject({ state: "completed", notes: [], error: null, readOnly: { before: { readOnly: false, superReadOnly: false } } });
    expect([await counts(scene, "TRIGGERS"), await counts(scene, "EVENTS")]).toEqual([1, 1]);
    for (const table of ["t", "log"]) expect(await rows(scene, "target", table)).toEqual(await rows(scene, "source", table));
    expect(await switches(scene)).toBe("11");
    await scene.sql("target", `INSERT INTO ${scene.schema}.t (n) VALUES ('app')`);
    expect(await rows(scene, "target", "log")).toEqual([{ id: 5001, what: "app" }]);
  } finally {
    await reopen(scene);
  }
}, 180_000);

it("an error behind the stop: triggers are dropped again, the migration streams on, also when the worker that takes back dies", async () => {
  const deaths = new Deaths();
  const failing: Hooks = {
    at: async (point, detail) => {
      await deaths.at(point, detail);
      if (point === "cutover:step" && detail["step"] === "counters") throw new DroverError("STATEMENT_REFUSED", "planted");
    },
  };
  await using scene = await FaultScene.open(urls, TABLES + TRIGGER);
  try {
    const first = await scene.worker(failing);
    await scene.client.startMigration({ id: "m", source: "SRC", target: "DST", objects: ["triggers"], options: { definer: "current" }, tables: [{ schema: scene.schema }] });
    await scene.phase("streaming");
    const undoing = deaths.arm("cutover:undo counters");
    const end = scene.client.cutover("m", { readOnly: true });
    const die = await undoing;
    expect([await counts(scene, "TRIGGERS"), await switches(scene)]).toEqual([1, "11"]);
    const closing = scene.close(first);
    die();
    await closing;
    // The next one cannot take it back either, for a while: that is told.
    let isRefused = true;
    await scene.worker({ at: async (point) => { if (point === "cutover:undo" && isRefused) throw new DroverError("STATEMENT_REFUSED", "no privilege"); } });
    await until(async () => (await scene.client.showCutover("m"))?.notes.some((note) => note.includes("no privilege")) === true, "the undo's error to be told");
    expect(await scene.client.showCutover("m")).toMatchObject({ state: "undoing", error: { message: expect.stringContaining("planted") }, next: [expect.any(String), expect.stringContaining("SET GLOBAL")] });
    isRefused = false;
    expect(await end).toMatchObject({ state: "failed", notes: [], error: { code: "STATEMENT_REFUSED", message: expect.stringContaining("planted") }, readOnly: { undone: true } });
    expect([await counts(scene, "TRIGGERS"), await switches(scene)]).toEqual([0, "00"]);
    await scene.sql("source", `INSERT INTO ${scene.schema}.t (n) VALUES ('after')`);
    await scene.applied();
    for (const table of ["t", "log"]) expect(await rows(scene, "target", table)).toEqual(await rows(scene, "source", table));
  } finally {
    await reopen(scene);
  }
}, 90_000);

it("what a carried trigger took the place of is there again when the cut-over is taken back", async () => {
  let fails = true;
  let onUndo = async (): Promise<void> => undefined;
  await using scene = await FaultScene.open(urls, `${TABLES}${TRIGGER} CREATE TRIGGER same BEFORE INSERT ON t FOR EACH ROW SET @seen = 1;`);
  const { schema } = scene;
  await scene.sql("target", `CREATE DATABASE IF NOT EXISTS ${schema}; CREATE TABLE ${schema}.other (id INT PRIMARY KEY); SET SESSION sql_mode='NO_BACKSLASH_ESCAPES', character_set_client=latin1, collation_connection=latin1_german1_ci;
    CREATE DEFINER='nobody'@'nowhere' TRIGGER ${schema}.tr BEFORE UPDATE ON ${schema}.other FOR EACH ROW SET @other = 'a\\'`);
  // The same name and text, but of another table: it is another one.
  await scene.sql("target", `CREATE TRIGGER ${schema}.same BEFORE INSERT ON ${schema}.other FOR EACH ROW SET @seen = 1; SET SESSION sql_mode=DEFAULT; SET NAMES utf8mb4`);
  const shown = async () => [...(await scene.sql("target", `SHOW CREATE TRIGGER ${schema}.tr`)), ...(await scene.sql("target", `SHOW CREATE TRIGGER ${schema}.same`))]
    .map((row) => ({ ...row, Created: null, "SQL Original Statement": String((row as Record<string, unknown>)["SQL Original Statement"]).replace(/;$/, "") }));
  const before = await shown();
  await scene.worker({
    at: async (point, detail) => {
      if (fails && point === "cutover:step" && detail["step"] === "counters") throw new DroverError("STATEMENT_REFUSED", "planted");
      if (point === "cutover:undo") await onUndo();
    },
  });
  await scene.client.startMigration({ id: "m", source: "SRC", target: "DST", objects: ["triggers"], options: { definer: "current", existingTarget: "replace" }, tables: [{ schema }] });
  await scene.phase("streaming");
  expect(await scene.client.cutover("m")).toMatchObject({ state: "failed", notes: [], error: { message: expect.stringContaining("planted") } });
  expect(await shown()).toEqual(before);
  expect(await scene.state("SELECT COUNT(*) AS n FROM @state.objects")).toEqual([{ n: 0 }]);
  await scene.sql("source", `INSERT INTO ${schema}.t (n) VALUES ('after')`);
  await scene.applied();
  // One that cannot be created again is told, and does not keep the migration from going on.
  onUndo = async () => { await scene.sql("target", `DROP TABLE ${schema}.other`); };
  const untold = await scene.client.cutover("m");
  expect(untold).toMatchObject({ state: "failed", notes: ["same", "tr"].map((name) => expect.stringContaining(`the trigger ${schema}.${name} cannot be created`) as string) });
  await scene.phase("streaming");
  fails = false;
  expect(await scene.client.cutover("m")).toMatchObject({ state: "completed", left: [] });
  expect(await scene.sql("target", `SELECT TRIGGER_NAME AS name, EVENT_OBJECT_TABLE AS on_table FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA='${schema}' ORDER BY 1`)).toEqual([{ name: "same", on_table: "t" }, { name: "tr", on_table: "t" }]);
}, 150_000);

it("a diff ends with the cut-over, and in the old direction none begins or goes on behind it", async () => {
  let reached = (): void => undefined;
  let release = (): void => undefined;
  const compared = new Promise<void>((resolve) => (reached = resolve));
  const released = new Promise<void>((resolve) => (release = resolve));
  await using scene = await open(TABLES, [], { at: async (point) => { if (point === "diff:before-record") { reached(); await released; } } });
  const { diffId } = await scene.client.startDiff("m", {});
  await compared;
  expect(await scene.client.cutover("m", { reverse: "back" })).toMatchObject({ state: "completed", notes: [`the diff ${diffId} was at work, and was stopped`], left: [] });
  await scene.sql("target", `UPDATE ${scene.schema}.t SET n='changed'; INSERT INTO ${scene.schema}.log (what) VALUES ('new')`);
  release();
  await expect(scene.client.waitForDiff("m", diffId, { timeout: 30_000 })).rejects.toMatchObject({ code: "DIFF_FAILED", message: expect.stringContaining("migration m was cut over while the diff was at work") });
  const refused = { code: "WRONG_PHASE", message: expect.stringContaining("was cut over"), cure: expect.stringContaining("drover diff start back") };
  await expect(scene.client.startDiff("m")).rejects.toMatchObject(refused);
  await expect(scene.client.resumeDiff("m", diffId)).rejects.toMatchObject(refused);
  expect(await scene.client.showDiff("m", diffId)).toMatchObject({ state: "stopped", hasMismatch: false, lastError: { code: "ABORTED" } });
  // The way back compares in the right sense.
  await scene.client.waitFor("back", "streaming", { timeout: 40_000 });
  const back = await scene.client.startDiff("back");
  expect(await scene.client.waitForDiff("back", back.diffId, { timeout: 40_000 })).toMatchObject({ state: "completed", hasMismatch: false });
}, 150_000);

it("behind the point of no return what fails again and again is left to people, with its reason", async () => {
  await using scene = await open(TABLES, ["events"], { at: async (point, detail) => { if (point === "cutover:step" && detail["step"] === "events") throw new DroverError("CONNECTION_LOST", "the old source is off"); } });
  expect(await scene.client.cutover("m", { timeout: 5_000 })).toMatchObject({ state: "completed", notes: [], left: [expect.stringContaining("the old source is off")] });
}, 90_000);

it("a worker killed while the source is read-only, its command line too: another worker opens the source when the time is over", async () => {
  await using scene = await FaultScene.open(urls, TABLES);
  const blocker = await scene.connect("target");
  try {
    const victim = scene.process();
    await scene.client.startMigration({ id: "m", source: "SRC", target: "DST", tables: [{ schema: scene.schema }] });
    await scene.phase("streaming");
    await blocker.query(`LOCK TABLES ${scene.schema}.t READ`);
    await scene.sql("source", `INSERT INTO ${scene.schema}.t (n) VALUES ('late')`);
    const abandoned = new AbortController();
    const call = scene.client.cutover("m", { readOnly: true, timeout: 8_000, maxLag: 3_600_000 }, { signal: abandoned.signal });
    await until(async () => (await switches(scene)) === "11", "the source to be read-only");
    abandoned.abort();
    await expect(call).rejects.toMatchObject({ code: "ABORTED" });
    await victim.kill();
    await scene.worker();
    await until(async () => (await switches(scene)) === "00", "the source to take writes again", 40_000);
    await until(async () => (await scene.client.showCutover("m"))?.state === "failed", "the cut-over to be over");
  } finally {
    blocker.destroy();
    await reopen(scene);
  }
  expect(await scene.differences()).toEqual([]);
}, 120_000);
