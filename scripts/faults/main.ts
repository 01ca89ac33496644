/** `npm run faults -- --fault F|all --phase P|all --runs N --seed N --json`: one JSON line per run. */
import { parseArgs } from "node:util";
import { openServers } from "../servers/index.js";
import { FAULTS, type FaultName } from "./faults.js";
import { PHASES, type PhaseName } from "./phases.js";
import { runFault } from "./run.js";

const HELP = `Strikes Drover with faults under writes, and checks that nothing is lost and no lock stays.

npm run faults -- [--fault NAME|all] [--phase NAME|all] [--runs N] [--seed N] [--rows N] [--workers N] [--no-ddl] [--log FILE] [--json]

faults: ${FAULTS.join(", ")}
phases: ${PHASES.join(", ")}
`;

const { values } = parseArgs({
  options: {
    fault: { type: "string", default: "all" },
    phase: { type: "string", default: "all" },
    runs: { type: "string", default: "1" },
    seed: { type: "string", default: "1" },
    rows: { type: "string", default: "20000" },
    workers: { type: "string", default: "3" },
    "no-ddl": { type: "boolean", default: false },
    log: { type: "string" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}

const faults = chosen(values.fault, FAULTS.filter((fault) => fault !== "none"), FAULTS);
const phases = chosen(values.phase, PHASES, PHASES);
await using servers = await openServers({ log: (line) => process.stderr.write(`${line}\n`) });
const shared = {
  source: await servers.mysql({ name: "source" }),
  target: await servers.mysql({ name: "target" }),
  redis: await servers.redis(),
};
let good = 0;
let bad = 0;
for (let run = 0; run < Number(values.runs); run++) {
  for (const phase of phases) {
    for (const fault of faults) {
      const report = await runFault({
        fault: fault as FaultName, phase: phase as PhaseName, seed: Number(values.seed) + run, servers: shared,
        rows: Number(values.rows), workers: Number(values.workers), ddl: !values["no-ddl"], ...(values.log === undefined ? {} : { logFile: values.log }),
      });
      process.stdout.write(`${JSON.stringify(report)}\n`);
      if (report.equal) good += 1;
      else bad += 1;
    }
  }
}
process.stderr.write(`${good} equal, ${bad} not\n`);
process.exitCode = bad === 0 ? 0 : 1;

function chosen<T extends string>(value: string, all: readonly T[], known: readonly T[]): readonly T[] {
  if (value === "all") return all;
  const names = value.split(",");
  const wrong = names.find((name) => !(known as readonly string[]).includes(name));
  if (wrong !== undefined) {
    process.stderr.write(`unknown name "${wrong}"; known are ${known.join(", ")}\n`);
    process.exit(2);
  }
  return names as T[];
}
