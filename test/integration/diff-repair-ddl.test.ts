/** DDL that comes between a repair's reading of rows and its writing of them: what the new columns hold must not fall to their defaults. */
import { expect, it } from "vitest";
import { readTableDefinition } from "../../src/shared/columns/read-table.js";
import { readRepairReport, type RepairReport } from "../../src/shared/state/diff-repair-report.js";
import type { MigrationTable } from "../../src/shared/state/tables.js";
import { requestRepair } from "../../src/workers/diff/commands.js";
import { testContext } from "../support/context.js";
import { DiffScene } from "./diff-scene.js";

/** @param meanwhile what happens before the repair's first writing */
async function interrupted(meanwhile: (scene: DiffScene) => Promise<void>): Promise<{ target: unknown; rows: { source: unknown; target: unknown }; first: unknown; report: RepairReport | null }> {
  await using ctx = await testContext();
  let left = 1;
  await using scene = new DiffScene(ctx, { mode: "copy+follow", tuning: { fencePatience: 500 }, hooks: { at: async (point) => { if (point === "diff:before-repair" && left-- > 0) await meanwhile(scene); } } });
  await scene.both("CREATE TABLE {db}.a (id INT PRIMARY KEY, v VARCHAR(40))", "INSERT INTO {db}.a VALUES (1,'one'), (2,'two'), (3,'three')");
  await scene.register("a");
  await scene.target("UPDATE {db}.a SET v='wrong' WHERE id IN (2,3)");
  await scene.moveFence();
  const { diffId } = await scene.diff();
  const { signal } = scene.ending;
  await requestRepair(scene.context, scene.ref, diffId, false, signal);
  const first = await scene.repair(diffId).then(() => "done", (error: unknown) => error);
  const all = `SELECT * FROM ${ctx.schema}.a ORDER BY id`;
  const target = await ctx.target.query(all);
  await scene.repair(diffId).catch(() => undefined);
  const report = await scene.onTarget((session) => readRepairReport(session, ctx.stateSchema, "m", diffId));
  return { target, rows: { source: await ctx.source.query(all), target: await ctx.target.query(all) }, first, report };
}

/** The statement on both sides, as the follow does it. @param recorded whether the fence has passed it */
async function alter(scene: DiffScene, statement: string, recorded: boolean): Promise<void> {
  const { state } = scene.context;
  await scene.onTarget((session) => state.ddlJournal.begin(session, "m", { gtid: "g:1", shapes: [] }));
  await scene.both(statement, "UPDATE {db}.a SET since=id*10");
  if (!recorded) return;
  await scene.onTarget(async (session) => {
    const table = (await state.tables.read(session, "m", 1)) as MigrationTable;
    const definition = await readTableDefinition(session, scene.ctx.schema, "a");
    await state.tables.put(session, "m", { ...table, definition: { ...table.definition, ...definition } });
    await state.ddlJournal.remove(session, "m");
  });
  await scene.moveFence();
}

it("a column that came meanwhile keeps its values", async () => {
  const { rows, first, report } = await interrupted((scene) => alter(scene, "ALTER TABLE {db}.a ADD since INT NOT NULL DEFAULT 7", true));
  expect(rows.target).toEqual(rows.source);
  expect(first).toMatchObject({ code: "TABLE_CHANGED" });
  expect(report).toMatchObject({ state: "completed", repaired: 2, refused: 0 });
});

it("so it does while the fence has not passed its statement", async () => {
  const { target, first } = await interrupted((scene) => alter(scene, "ALTER TABLE {db}.a ADD since INT NOT NULL DEFAULT 7", false));
  expect(target).toEqual([{ id: 1, v: "one", since: 10 }, { id: 2, v: "wrong", since: 20 }, { id: 3, v: "wrong", since: 30 }]);
  expect(first).toMatchObject({ code: "TABLE_CHANGED" });
});

it("a column that went meanwhile makes no row one that the target refuses", async () => {
  const { rows, first, report } = await interrupted((scene) => alter(scene, "ALTER TABLE {db}.a ADD since INT, RENAME COLUMN v TO w", true));
  expect(rows.target).toEqual(rows.source);
  expect(first).toMatchObject({ code: "TABLE_CHANGED" });
  expect(report).toMatchObject({ state: "completed", repaired: 2, refused: 0 });
});
