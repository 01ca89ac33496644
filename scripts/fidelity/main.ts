/** `npm run fidelity [-- --json] [--pair P|all]`: every type's boundary values through a real migration; the last line is `N passed, N failed`. */
import { parseArgs } from "node:util";
import { openServers } from "../servers/index.js";
import { flavorsOf, PAIRS, PairServers, type Pair } from "./pairs.js";
import { runPair } from "./run.js";
import { Results, tallyJson, tallyLines } from "./tally.js";

const HELP = `Moves a corpus of every type's boundary values from one server to another by copy and follow, and asks both servers for each value.

npm run fidelity -- [--pair ${PAIRS.join("|")}|all] [--only REGEX] [--share N] [--patience SECONDS] [--log FILE] [--json]

--pair      kinds of source and target; all by default
--only      kinds of values, such as "^json" or "^text in "
--share     of the values of the character sets only each Nth
--patience  seconds for each of a migration's steps; 300 by default
--json      one JSON line per pair and kind of value, and one per failure; the last line stays the same
`;

const { values } = parseArgs({
  options: {
    pair: { type: "string", default: "all" },
    only: { type: "string", default: "" },
    share: { type: "string", default: "1" },
    patience: { type: "string", default: "300" },
    log: { type: "string" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const pairs = values.pair === "all" ? PAIRS : PAIRS.filter((pair) => values.pair.split(",").includes(pair));
if (pairs.length === 0) {
  process.stderr.write(`unknown pair "${values.pair}"; known are ${PAIRS.join(", ")}\n`);
  process.exit(2);
}
// Neither server's zone, nor the worker's, nor that of the session that writes.
process.env["TZ"] = "America/St_Johns";
const note = (line: string) => process.stderr.write(`${line}\n`);
const results = new Results();
{
  await using servers = await openServers({ log: note });
  const pairServers = new PairServers(servers);
  const redis = await servers.redis();
  for (const pair of pairs) await attempt(pair);

  async function attempt(pair: Pair): Promise<void> {
    const flavors = flavorsOf(pair);
    try {
      const [source, target] = await Promise.all([pairServers.source(flavors.source), pairServers.target(flavors.target)]);
      await runPair({ source, target, redisUrl: redis.url, pair, share: Number(values.share), only: new RegExp(values.only), results, whole: true, patience: Number(values.patience) * 1000, logFile: values.log, note });
    } catch (error) {
      const { message, problems = [] } = error as Error & { problems?: { message: string }[] };
      results.count(pair, "the migration", "run", [message, ...problems.map((problem) => problem.message)].join("; "));
    }
  }
  note(servers.how);
}
process.stdout.write([...(values.json ? tallyJson(results) : tallyLines(results)), ""].join("\n"));
process.stdout.write(`${results.total.passed} passed, ${results.total.failed} failed\n`);
process.exitCode = results.total.failed === 0 ? 0 : 1;
