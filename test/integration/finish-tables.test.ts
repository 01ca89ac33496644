/** The end of a small table's copy, without a job of its own. */
import { expect, inject, it } from "vitest";
import { loadConfig } from "../../src/shared/config.js";
import { createLogger } from "../../src/shared/logger.js";
import { Connections } from "../../src/shared/mysql/connections.js";
import { State } from "../../src/shared/state/state.js";
import { noHooks } from "../../src/workers/hooks.js";
import { finishTables } from "../../src/workers/planner/finish-tables.js";
import { FaultScene } from "../support/fault-scene.js";

it("a table is copied when its rows are there, but not one whose counter is behind, that was dropped, or that has started over", async () => {
  const table = (name: string) => `CREATE TABLE ${name} (id INT AUTO_INCREMENT PRIMARY KEY); INSERT INTO ${name} VALUES (1), (2)`;
  await using scene = await FaultScene.open(inject("servers"), ["a_done", "b_behind", "c_again"].map(table).join("; "));
  const worker = await scene.worker();
  await scene.start();
  await scene.phase("streaming");
  await scene.close(worker);
  await scene.state("UPDATE @state.tables SET phase='copying', copied_position=NULL");
  await scene.sql("source", "ALTER TABLE b_behind AUTO_INCREMENT=500");
  const config = loadConfig(scene.env);
  const connections = new Connections({ config, worker: "w-finish" });
  const state = new State(config.stateSchema);
  const context = { config, connections, state, log: createLogger("silent"), worker: "w-finish", hooks: noHooks };
  const ref = { migration: "m", target: "DST" };
  const { signal } = new AbortController();
  const read = () => connections.use("DST", "target", signal, (session) => state.tables.progress(session, "m"));
  try {
    const tables = await read();
    await scene.state("UPDATE @state.tables SET generation=generation+1 WHERE source_table='c_again'");
    expect(await finishTables(context, ref, "SRC", tables, signal)).toEqual(new Set([1, 3]));
    expect((await read()).map(({ phase }) => phase)).toEqual(["copied", "copying", "copying"]);
    await scene.sql("source", "DROP TABLE b_behind");
    expect(await finishTables(context, ref, "SRC", tables, signal)).toEqual(new Set());
  } finally {
    connections.close();
  }
}, 60_000);
