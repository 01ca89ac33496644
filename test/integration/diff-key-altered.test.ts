/** The key of a table is altered while it is compared, or behind it: its chunks were cut by the old key, and mean nothing by the new one. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { readTableDefinition } from "../../src/shared/columns/read-table.js";
import type { TableDefinition } from "../../src/shared/columns/table-definition.js";
import type { DiffReport } from "../../src/shared/contracts/diff.js";
import { readRepairReport } from "../../src/shared/state/diff-repair-report.js";
import type { MigrationTable } from "../../src/shared/state/tables.js";
import { recordPlan } from "../../src/workers/ddl/record-plan.js";
import { requestRepair } from "../../src/workers/diff/commands.js";
import { testContext } from "../support/context.js";
import { DiffScene } from "./diff-scene.js";
import { DiffWorker } from "./diff-worker.js";

const ROWS = 300;
const SMALL = { firstRows: 20, maxRows: 20, leafRows: 10 };

async function table(scene: DiffScene): Promise<void> {
  await scene.both("CREATE TABLE {db}.a (id INT PRIMARY KEY, k INT NOT NULL, v VARCHAR(40))", `INSERT INTO {db}.a WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<${ROWS}) SELECT i, 1000 - i, CONCAT('v', i) FROM n`);
  await scene.register("a");
  await scene.target("UPDATE {db}.a SET v='wrong' WHERE id IN (7, 277)");
}

/** What the follow does with the statement. */
async function alter(scene: DiffScene, key: string): Promise<void> {
  const { state } = scene.context;
  await scene.both(`ALTER TABLE {db}.a DROP PRIMARY KEY, ADD PRIMARY KEY (${key})`);
  await scene.context.connections.transaction("DST", "target", scene.ending.signal, async (session) => {
    await state.fence.require(session, "m", "update");
    const of = (await state.tables.read(session, "m", 1)) as MigrationTable;
    const { source, target, where } = of;
    const definition = (await readTableDefinition(session, target.schema, target.table)) as TableDefinition;
    const plan = { run: null, touched: [], ambiguous: false, changed: [{ table: of, source, target, where }], created: null, restarted: [], joining: [], removed: [] };
    await recordPlan(state, session, "m", { plan, definitions: new Map([[target, definition]]), joining: [] });
  });
}

async function ended(scene: DiffScene, diffId: string): Promise<DiffReport> {
  for (const until = Date.now() + 45_000; ; await sleep(100)) {
    const report = await scene.report(diffId);
    if (report.state !== "pending" && report.state !== "running") return report;
    if (Date.now() > until) throw new Error(`the diff is still ${JSON.stringify(report)}`);
  }
}

/** A worker remembers a table for two seconds. */
const CASES = [["more columns", "id, k", 0], ["another column", "k", 0], ["more columns", "id, k", 2_100], ["another column", "k", 2_100]] as const;
for (const [what, key, pause] of CASES)
  it(`${what}, ${pause === 0 ? "at once" : "a moment later"}: the table is cut anew, and every row is compared once`, async () => {
    await using ctx = await testContext();
    await using scene = new DiffScene(ctx);
    await table(scene);
    const diffId = await scene.start({ maxSamples: 10 });
    let left = 1;
    await using _worker = new DiffWorker(scene, { tuning: SMALL, concurrency: 1, hooks: {
      at: async (point, { chunk }) => {
        if (point !== "diff:before-record" || chunk !== 3 || left-- <= 0) return;
        await alter(scene, key);
        await sleep(pause);
      },
    } });
    const report = await ended(scene, diffId);
    expect(report).toMatchObject({ state: "completed", tables: [{ rowsCompared: ROWS, matching: ROWS - 2, mismatched: 2, missingOnTarget: 0, extraOnTarget: 0 }] });
    expect(report.tables[0]?.samples.map((sample) => sample.key["k"]).sort()).toEqual(["723", "993"]);
  });

it("behind the diff: its result stays, and its repair says that it cannot be told which rows these are", async () => {
  await using ctx = await testContext();
  await using scene = new DiffScene(ctx);
  await table(scene);
  const { diffId } = await scene.diff();
  await alter(scene, "id, k");
  expect(await scene.report(diffId)).toMatchObject({ hasMismatch: true, tables: [{ mismatched: 2, samples: [] }] });
  await requestRepair(scene.context, scene.ref, diffId, false, scene.ending.signal);
  await scene.repair(diffId);
  expect(await scene.onTarget((session) => readRepairReport(session, ctx.stateSchema, "m", diffId))).toMatchObject({ state: "failed", refused: 2, repaired: 0, error: { code: "STATEMENT_REFUSED", message: expect.stringContaining("another key") } });
});
