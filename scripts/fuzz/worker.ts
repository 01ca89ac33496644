/**
 * A worker that fails by chance at the points where it hurts (`src/workers/hooks.ts`): it waits, throws, or kills itself on the
 * spot. DROVER_FUZZ_SEED, and DROVER_FUZZ_KILLS in a million of hook points.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { loadConfig } from "../../src/shared/config.js";
import { DroverError } from "../../src/shared/errors.js";
import { runWorker } from "../../src/workers/index.js";
import { Dice } from "./dice.js";

// Whoever started it is gone, perhaps before this line.
process.once("disconnect", () => process.exit(1));
if (!process.connected) process.exit(1);

const dice = new Dice(Number(process.env["DROVER_FUZZ_SEED"] ?? 1));
const kills = Number(process.env["DROVER_FUZZ_KILLS"] ?? 0);

const worker = await runWorker({
  config: loadConfig(process.env),
  concurrency: 4,
  hooks: {
    at: async (point) => {
      if (dice.below(1_000_000) < kills) process.kill(process.pid, "SIGKILL");
      if (dice.percent(5)) await sleep(dice.below(60));
      if (dice.below(1_000) < 3) throw new DroverError("SERVER_BUSY", `planted at ${point}`);
    },
  },
});
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => void worker.close().then(() => process.exit(0)));
