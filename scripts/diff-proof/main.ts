/** `npm run diff-proof -- load|planted|scaling`: what the diff promises, on real servers and at full size. Prints one JSON line; exits with 0 only when it holds. */
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { proveLoad } from "./load.js";
import { provePlanted } from "./planted.js";
import { proveScaling } from "./scaling.js";

const HELP = `npm run diff-proof -- load     [--rows 200000] [--diffs 20] [--rate 500] [--workers 2]
    diffs in a row while the compared rows are written to: no difference that is not there, fewer than 0.01 % inconclusive
npm run diff-proof -- planted  [--rows 1000000] [--rate 200] [--workers 2]
    50 planted differences of all kinds under writes: found exactly, repaired while the writes go on, none in the next diff
npm run diff-proof -- scaling  [--rows 600000] [--tables 200] [--delay 20] [--workers 4] [--runs 3]
    both servers behind a proxy that delays (milliseconds in each direction): several workers at least 3 times as fast as one
The workers run from dist: \`npm run build\` first.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rows: { type: "string" },
    diffs: { type: "string", default: "20" },
    rate: { type: "string" },
    workers: { type: "string" },
    tables: { type: "string", default: "200" },
    delay: { type: "string", default: "20" },
    runs: { type: "string", default: "3" },
    help: { type: "boolean", default: false },
  },
});

const number = (text: string | undefined, otherwise: number) => (text === undefined ? otherwise : Number(text));
const proofs: Record<string, () => Promise<{ ok: boolean }>> = {
  load: () => proveLoad({ rows: number(values.rows, 200_000), diffs: Number(values.diffs), rate: number(values.rate, 500), workers: number(values.workers, 2) }),
  planted: () => provePlanted({ rows: number(values.rows, 1_000_000), rate: number(values.rate, 200), workers: number(values.workers, 2) }),
  scaling: () => proveScaling({ rows: number(values.rows, 600_000), tables: Number(values.tables), delay: Number(values.delay), workers: number(values.workers, 4), runs: Number(values.runs) }),
};
const prove = proofs[positionals[0] ?? ""];

if (values.help || prove === undefined) {
  process.stdout.write(HELP);
  process.exitCode = values.help ? 0 : 2;
} else if (!existsSync(new URL("../../dist/producers/cli/main.js", import.meta.url))) {
  process.stderr.write("the workers are not built: run `npm run build`\n");
  process.exitCode = 2;
} else {
  // Servers have a watchdog, workers end when asked; an interrupted proof proves nothing.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130));
  process.exitCode = (await prove()).ok ? 0 : 1;
}
