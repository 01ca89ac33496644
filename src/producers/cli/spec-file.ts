/** Reads the SPEC argument: a file of YAML or JSON, or `-` for stdin. What is in it is validated elsewhere. */
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { parse as parseYaml } from "yaml";
import type { MigrationSpecInput } from "../../shared/contracts/spec.js";
import { DroverError } from "../../shared/errors.js";

/** @throws DroverError SPEC_INVALID */
export async function readSpec(path: string, stdin: NodeJS.ReadableStream): Promise<MigrationSpecInput> {
  const name = path === "-" ? "stdin" : path;
  let content: string;
  try {
    content = path === "-" ? await text(stdin) : await readFile(path, "utf8");
  } catch (cause) {
    throw new DroverError("SPEC_INVALID", `the migration spec ${name} cannot be read: ${(cause as Error).message}`, { cure: "give the path of a YAML or JSON file, or - for stdin", cause });
  }
  try {
    return parseYaml(content) as MigrationSpecInput;
  } catch (cause) {
    // The parser's first line says what and where; the rest quotes the file.
    const reason = (cause as Error).message.split("\n", 1)[0] ?? "";
    throw new DroverError("SPEC_INVALID", `the migration spec ${name} is neither YAML nor JSON: ${reason.replace(/:$/, "")}`, { cause });
  }
}
