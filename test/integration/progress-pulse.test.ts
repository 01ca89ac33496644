/** Work that is silent for long is not called stuck. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, inject, it } from "vitest";
import { loadConfig } from "../../src/shared/config.js";
import { createLogger } from "../../src/shared/logger.js";
import { Connections } from "../../src/shared/mysql/connections.js";
import { State } from "../../src/shared/state/state.js";
import { noHooks } from "../../src/workers/hooks.js";
import { withPulse } from "../../src/workers/progress-pulse.js";
import { FaultScene } from "../support/fault-scene.js";

it("a long statement keeps the migration's progress fresh, and is stuck without it", async () => {
  await using scene = await FaultScene.open(inject("servers"), "CREATE TABLE t (id INT PRIMARY KEY)");
  const worker = await scene.worker();
  await scene.start();
  await scene.phase("streaming");
  await scene.close(worker);
  const config = loadConfig(scene.env);
  const connections = new Connections({ config, worker: "w-pulse" });
  const context = { config, connections, state: new State(config.stateSchema), log: createLogger("silent"), worker: "w-pulse", hooks: noHooks };
  const age = "UPDATE @state.migrations SET phase='copying', progress_at=progress_at - INTERVAL 60 SECOND";
  await scene.state(age);
  expect((await scene.client.status("m")).stuck).not.toBeNull();
  await withPulse(context, { migration: "m", target: "DST" }, new AbortController().signal, () => sleep(600), 100);
  expect((await scene.client.status("m")).stuck).toBeNull();
  connections.close();
}, 60_000);
