/**
 * A small part of `npm run faults`: real worker processes on real servers, writers with DDL among them, one fault, and an
 * independent comparison of every row at the end. docs/faults.md has the whole.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { FaultName } from "../../scripts/faults/faults.js";
import type { PhaseName } from "../../scripts/faults/phases.js";
import { runFault } from "../../scripts/faults/run.js";
import type { RigServers } from "../../scripts/faults/rig.js";
import { openServers, type Servers } from "../../scripts/servers/index.js";
import { ensureBuilt } from "../integration/cli-process.js";

let servers: Servers;
let shared: RigServers;

beforeAll(async () => {
  await ensureBuilt();
  servers = await openServers();
  const [source, target, redis] = await Promise.all([servers.mysql({ name: "source" }), servers.mysql({ name: "target" }), servers.redis()]);
  shared = { source, target, redis };
});
afterAll(async () => {
  await servers.close();
});

const CASES: [FaultName, PhaseName, string][] = [
  ["kill9", "planning", "a worker that is killed while it plans"],
  ["kill9", "copying", "a worker that is killed while it copies"],
  ["sigstop", "copying", "a stopped worker that wakes as a zombie while others have its chunks"],
  ["flush-redis", "copying", "an emptied Redis while copying"],
  ["kill9", "catching-up", "a worker that is killed while it catches up"],
  ["kill9", "streaming", "a worker that is killed while it follows"],
  ["sigstop", "streaming", "a stopped worker that wakes as a zombie while others have its leases"],
  ["kill9", "diff", "a worker that is killed while it compares"],
];

test.each(CASES)("%s in %s: %s costs no row and holds no lock", async (fault, phase) => {
  const report = await runFault({ fault, phase, seed: 7, servers: shared, rows: 6_000, workers: 2, ddl: true });
  expect(report.error).toBeUndefined();
  expect(report.equal).toBe(true);
  expect(report.ddlWaitMsMax).toBeLessThan(5_000);
  expect(report.ourOldestTrxMsMax).toBeLessThan(10_000);
  expect(report.ourOldestLockMsMax).toBeLessThan(10_000);
  expect(report.recoverSeconds).toBeLessThan(30);
});
