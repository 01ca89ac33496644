/** `drover init`: a spec to begin with, from what is on the source. */
import { writeFile } from "node:fs/promises";
import type { Command } from "commander";
import { DroverError } from "../../../shared/errors.js";
import { listArgument } from "../arguments.js";
import { plural } from "../format/numbers.js";
import { action, type Cli } from "../run.js";

interface Options {
  source: string;
  target: string;
  schema?: string[];
  id?: string;
  output?: string;
}

export function addInitCommand(program: Command, cli: Cli): void {
  program
    .command("init")
    .summary("write a commented spec from a live source")
    .description(
      "Looks at a live source and prints a commented spec: its tables with their size and key; those that cannot be moved as they are, commented out, with the reason and its cure.\nReads definitions only, no rows; changes nothing.",
    )
    .requiredOption("--source <name>", "connection of the source, such as SRC")
    .option("--target <name>", "connection of the target", "DST")
    .option("--schema <names>", "only these schemas (default: all that the user sees)", listArgument)
    .option("--id <id>", "the migration's id (default: from the schema's name)")
    .option("-o, --output <file>", "write to this file, which must not exist yet")
    .option("--json", "print one JSON document: the spec, and what is known of each table")
    .addHelpText("after", "\nExamples:\n  drover init --source SRC --schema shop > shop.yaml\n  drover init --source SRC --target NEW --schema shop,crm --output move.yaml")
    .action(
      action(cli, async (run, { source, target, schema: schemas, id: givenId, output }: Options) => {
        const [{ inspectSource }, { idOf, selections, specText }] = await Promise.all([import("../init/inspect-source.js"), import("../init/spec-text.js")]);
        const picture = await inspectSource({ config: run.config(), source, target, schemas });
        const id = givenId ?? idOf(schemas ?? [...new Set(picture.tables.map((table) => table.schema))]);
        const text = specText({ id, source, target, picture });
        if (output !== undefined) await writeNew(output, text);
        const left = picture.tables.filter((table) => table.obstacles.length > 0).length;
        if (left > 0) run.note(`${plural(left, "table")} of ${picture.tables.length} ${left === 1 ? "needs" : "need"} attention and ${left === 1 ? "is" : "are"} commented out, each with its reason`);
        const spec = { id, source, target, mode: "copy+follow", tables: selections(picture.tables) };
        run.print({ spec, server: picture.server, tables: picture.tables, passedOver: picture.passedOver }, () => (output === undefined ? [text.trimEnd()] : [output]));
      }),
    );
}

async function writeNew(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: "wx" });
  } catch (cause) {
    throw new DroverError("CONFIG_INVALID", `${path} cannot be written: ${(cause as Error).message}`, { cure: "name a file that is not there yet", cause });
  }
}
