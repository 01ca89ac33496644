/** A migration that has ended repairs nothing in tables that another one has by now. */
import { expect, it } from "vitest";
import { parseMigrationSpec } from "../../src/shared/contracts/spec.js";
import type { MigrationTable } from "../../src/shared/state/tables.js";
import { requestRepair } from "../../src/workers/diff/commands.js";
import { testContext } from "../support/context.js";
import { DiffScene } from "./diff-scene.js";

/** Another migration begins to write the table `a`, as its planning records it. */
async function take(scene: DiffScene): Promise<void> {
  const { state } = scene.context;
  const input = { id: "other", source: "SRC", target: "DST", tables: [{ schema: scene.ctx.schema, table: "a" }] };
  await scene.context.connections.transaction("DST", "target", scene.ending.signal, async (session) => {
    const table = (await state.tables.read(session, "m", 1)) as MigrationTable;
    await state.migrations.create(session, input, parseMigrationSpec(input));
    await state.claims.claim(session, "other", [table.target]);
    await state.tables.put(session, "other", { ...table, phase: "planning" });
  });
}

for (const [when, late] of [["before it is asked for", false], ["while the repair is under way", true]] as const)
  it(`taken ${when}`, async () => {
    await using ctx = await testContext();
    let left = late ? 1 : 0;
    await using scene = new DiffScene(ctx, { mode: "copy+follow", phase: "stopped", hooks: { at: async (point) => { if (point === "diff:before-repair" && left-- > 0) await take(scene); } } });
    await scene.both("CREATE TABLE {db}.a (id INT PRIMARY KEY, v VARCHAR(40))", "INSERT INTO {db}.a VALUES (1,'one'), (2,'two')");
    await scene.register("a");
    await scene.target("UPDATE {db}.a SET v='of the other' WHERE id=2");
    await scene.moveFence();
    const { diffId } = await scene.diff();
    const { signal } = scene.ending;
    const ask = (dryRun: boolean) => requestRepair(scene.context, scene.ref, diffId, dryRun, signal);
    const refusal = { code: "PREFLIGHT_FAILED", message: expect.stringContaining('is written by the migration "other"') };
    if (late) {
      await ask(false);
      await expect(scene.repair(diffId)).rejects.toMatchObject(refusal);
    } else {
      await take(scene);
      await expect(ask(false)).rejects.toMatchObject(refusal);
      await ask(true);
      await scene.repair(diffId);
    }
    expect(await ctx.target.query(`SELECT v FROM ${ctx.schema}.a WHERE id=2`)).toEqual([{ v: "of the other" }]);
  });
