import { defineConfig } from "vitest/config";

/** Starts the shared servers, once per run whichever of the projects below are in it. */
const globalSetup = ["test/support/servers.ts"];

/**
 * Tests with real servers wait for other processes, and a shared machine stops all of them for seconds at times. One that
 * passes only at its second try is named at the end of the run, so that it is seen; `DROVER_TEST_RETRY=0` shows such a test as failed.
 */
const secondTry = Number(process.env["DROVER_TEST_RETRY"] ?? 1);

export default defineConfig({
  test: {
    // the machine that this must pass on has two cores, which the servers share
    maxWorkers: 2,
    setupFiles: ["test/support/suppressed-error.ts"],
    projects: [
      {
        extends: true,
        test: { name: "unit", include: ["test/unit/**/*.test.ts"], testTimeout: 10_000, sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        test: {
          name: "integration",
          include: ["test/integration/**/*.test.ts"],
          globalSetup,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          retry: secondTry,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "faults",
          include: ["test/faults/**/*.test.ts"],
          globalSetup,
          testTimeout: 180_000,
          hookTimeout: 60_000,
          retry: secondTry,
          // these measure how long recovery takes, so nothing else may compete for the cores
          maxWorkers: 1,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
