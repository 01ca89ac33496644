/** `npm run faults -- --fault F|all --phase P|all --runs N --seed N`: a table at the end; with `--json` one JSON line per run and nothing else. */
import { parseArgs } from "node:util";
import { openServers } from "../servers/index.js";
import { FAULTS, type FaultName } from "./faults.js";
import { PHASES, type PhaseName } from "./phases.js";
import { measurePeers } from "./peers.js";
import { brokenPromises, readReports, textTable, writeMarkdown } from "./report.js";
import { runFault, type RunReport } from "./run.js";

const HELP = `Strikes Drover with faults under writes, and checks that nothing is lost and no lock stays.

npm run faults -- [--fault NAME|all] [--phase NAME|all] [--runs N] [--seed N] [--rows N] [--workers N] [--no-ddl] [--log FILE]
                  [--peers] [--merge FILE]... [--markdown FILE] [--json]

--peers      also: mydumper and mysqldump stopped in a dump, and how long DDL waits (60 s at most); alone with --fault none --runs 0
--merge      takes the runs of an earlier \`--json\` output into the table; with --runs 0 nothing else
--markdown   puts the figures into a page that has a place for them (docs/faults.md)
--json       one JSON line per run on stdout, and nothing else

Exit code 0 when every run ended equal, no DDL waited for 5 s, the p99 of all waits is below 250 ms, nothing of ours was open for 10 s, and work went on
within 30 s after a worker was lost; else 1, and stderr says which.

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
    peers: { type: "boolean", default: false },
    merge: { type: "string", multiple: true, default: [] },
    markdown: { type: "string" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130));
const faults = chosen(values.fault, FAULTS.filter((fault) => fault !== "none"), FAULTS);
const phases = chosen(values.phase, PHASES, PHASES);
await using servers = await openServers({ log: (line) => process.stderr.write(`${line}\n`) });
const shared = {
  source: await servers.mysql({ name: "source" }),
  target: await servers.mysql({ name: "target" }),
  redis: await servers.redis(),
};
const reports: RunReport[] = (await Promise.all(values.merge.map(readReports))).flat();
const note = (line: string) => process.stderr.write(`${line}\n`);
for (let run = 0; run < Number(values.runs); run++) {
  for (const phase of phases) {
    for (const fault of faults) {
      const report = await runFault({
        fault: fault as FaultName, phase: phase as PhaseName, seed: Number(values.seed) + run, servers: shared,
        rows: Number(values.rows), workers: Number(values.workers), ddl: !values["no-ddl"], ...(values.log === undefined ? {} : { logFile: values.log }),
      });
      reports.push(report);
      if (values.json) process.stdout.write(`${JSON.stringify(report)}\n`);
      else note(`${report.fault} in ${report.phase}, seed ${report.seed}: ${report.error ?? "equal"}`);
    }
  }
}
const peers = values.peers ? await measurePeers(shared.source, note) : [];
if (values.json) for (const peer of peers) process.stdout.write(`${JSON.stringify(peer)}\n`);
else process.stdout.write(`${textTable(reports, peers)}\n`);
if (values.markdown !== undefined) await writeMarkdown(values.markdown, reports, peers);
const broken = brokenPromises(reports);
note(broken.length === 0 ? `${reports.length} runs, every promise kept` : broken.join("; "));
process.exitCode = broken.length === 0 ? 0 : 1;

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
