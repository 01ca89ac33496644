/** `drover grants`: the statements that give Drover's users what they need and no more. */
import { InvalidArgumentError, type Command } from "commander";
import { parseMigrationSpec, type MigrationSpec } from "../../../shared/contracts/spec.js";
import { loadStateSchema } from "../../../shared/config.js";
import { cutoverGrants } from "../../../shared/preflight/cutover-grants.js";
import { leastPrivilegeGrants } from "../../../shared/preflight/grants.js";
import { listArgument } from "../arguments.js";
import { action, type Cli } from "../run.js";
import { readSpec } from "../spec-file.js";

interface Options {
  source?: boolean;
  target?: boolean;
  user: string;
  schema?: string[];
  partialRevokes?: boolean;
  mariadb?: boolean;
  cutover?: boolean;
  reverse?: boolean;
}

/** Not in quotes: a statement that was not filled in must fail, instead of making a user with a known password. */
const PASSWORD = "<password>";
const PLACEHOLDER = "your_schema";

export function addGrantsCommand(program: Command, cli: Cli): void {
  program
    .command("grants")
    .summary("print the least-privilege statements for Drover's users")
    .description(
      "Prints the statements that create Drover's users with the least privileges: for the tables of a spec, or of whole schemas. Asks no server; MySQL 5.7 to 9 and MariaDB take the same ones, but for those that carry objects (--mariadb).\nPut a password in the place of <password>, in quotes.",
    )
    .argument("[spec]", "file of YAML or JSON, - for stdin")
    .option("--source", "only those for the source")
    .option("--target", "only those for the target")
    .option("--user <user>", "the account, as user or user@host", accountArgument, "'drover'@'%'")
    .option("--schema <names>", "without a spec: these schemas, under the same name on both sides", listArgument)
    .option("--partial-revokes", "the server has partial_revokes=ON (MySQL 8.0.16 and newer): names of schemas are no patterns there")
    .option("--mariadb", "the server is MariaDB; with --source or --target where only one of them is")
    .option("--cutover", "also what `cutover --read-only` needs")
    .option("--reverse", "also what `cutover --read-only --reverse` needs: each user then does what the other one does")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExamples:\n  drover grants shop.yaml\n  drover grants --source --user mover@10.0.0.% shop.yaml\n  drover grants --target --schema shop,crm")
    .action(
      action(cli, async (run, path: string | undefined, options: Options) => {
        const spec = path === undefined ? specOf(options.schema ?? [PLACEHOLDER]) : parseMigrationSpec(await readSpec(path, run.terminal.stdin));
        const literal = options.partialRevokes === true;
        const mariaDb = options.mariadb === true;
        const stateSchema = loadStateSchema(run.terminal.environment);
        const users = { sourceAccount: options.user, targetAccount: options.user, literalSchemaNames: { source: literal, target: literal }, mariaDb: { source: mariaDb, target: mariaDb } };
        const least = leastPrivilegeGrants(spec, [], stateSchema, users);
        const reverse = options.reverse === true;
        const more = options.cutover === true || reverse ? cutoverGrants(spec, { ...users, stateSchema, reverse }) : { source: [], target: [] };
        const grants = { source: [...least.source, ...more.source], target: [...least.target, ...more.target] };
        const create = `CREATE USER ${options.user} IDENTIFIED BY ${PASSWORD};`;
        const both = options.source === options.target;
        const sides = (["source", "target"] as const).filter((side) => both || options[side] === true);
        if (path === undefined && options.schema === undefined) run.note(`put the name of your schema in the place of ${PLACEHOLDER}, or give --schema or a spec`);
        run.print(Object.fromEntries(sides.map((side) => [side, [create, ...grants[side]]])), () =>
          sides.flatMap((side, i) => [...(i > 0 ? [""] : []), `-- on the ${side}`, create, ...grants[side]]),
        );
      }),
    );
}

function specOf(schemas: readonly string[]): MigrationSpec {
  return parseMigrationSpec({ id: "grants", source: "SRC", target: "DST", tables: schemas.map((schema) => ({ schema })) });
}

/** `drover`, `drover@10.%`, `'drover'@'%'` to an account as GRANT wants it. */
function accountArgument(text: string): string {
  const match = /^(?:'([^'\\]+)'|([^'\\@\s]+))(?:@(?:'([^'\\]+)'|([^'\\@\s]+)))?$/.exec(text);
  const user = match?.[1] ?? match?.[2];
  const host = match?.[3] ?? match?.[4];
  if (user === undefined) throw new InvalidArgumentError("Expected an account such as drover, or drover@10.0.0.%.");
  return `'${user}'@'${host ?? "%"}'`;
}
