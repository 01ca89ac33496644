/** A few seeds of `npm run fuzz`, with workers in this process that fail at random points instead of being killed. DROVER_FUZZ_SEED=7 runs that one. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { Dice } from "../../scripts/fuzz/dice.js";
import { runSeed } from "../../scripts/fuzz/run-seed.js";
import { SeedLog } from "../../scripts/fuzz/seed-log.js";
import { loadConfig } from "../../src/shared/config.js";
import { DroverError } from "../../src/shared/errors.js";
import { createLogger } from "../../src/shared/logger.js";
import type { Hooks } from "../../src/workers/hooks.js";
import { runWorker } from "../../src/workers/index.js";
import { testContext } from "../support/context.js";

const chosen = process.env["DROVER_FUZZ_SEED"];
const SEEDS = chosen === undefined ? [1, 2, 3] : [Number(chosen)];
const STEPS = 10;

it("random tables, transactions and DDL under workers that fail: both sides are equal, and the diff says so", async () => {
  await using ctx = await testContext({ allowedKey: () => true });
  const faults = new Dice(SEEDS[0] ?? 1);
  let failures = 0;
  const hooks: Hooks = {
    at: async (point) => {
      if (faults.percent(5)) await sleep(faults.below(40));
      if (faults.below(1_000) >= 5) return;
      failures += 1;
      throw new DroverError("SERVER_BUSY", `planted at ${point}`);
    },
  };
  const config = loadConfig(ctx.env);
  const worker = await runWorker({ config, hooks, log: createLogger("silent"), concurrency: 4 });
  try {
    const reports = await Promise.all(SEEDS.map((seed) =>
      runSeed({ seed, name: `${ctx.id}_${seed}`, sourceUrl: ctx.source.url, targetUrl: ctx.target.url, config, log: new SeedLog(null), steps: STEPS })));
    expect(reports.filter((report) => report.problem !== null)).toEqual([]);
    for (const { statements, refused, ddl } of reports) expect(statements - refused, "statements that the source took").toBeGreaterThan(ddl * 3);
    expect(failures).toBeGreaterThan(0);
  } finally {
    await worker.close();
  }
}, 240_000);
