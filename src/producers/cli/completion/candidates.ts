/** What may come next on a command line, from the program's own description: commands, options, choices, ids. */
import type { Argument, Command, Option } from "commander";

export interface Candidate {
  value: string;
  /** Shown beside it where the shell can. */
  text: string;
}

/** Where ids come from; each may ask the servers, and gives nothing when they do not answer. */
export interface IdSource {
  migrations(): Promise<Candidate[]>;
  diffs(migration: string): Promise<Candidate[]>;
}

/**
 * @param words the line's words after the program's name; the last is the one under the cursor, perhaps empty
 * @returns none where a file's name belongs: shells complete those themselves
 */
export async function candidates(program: Command, words: readonly string[], ids: IdSource): Promise<Candidate[]> {
  const current = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  const { command, positional, pending } = parse(program, before);
  const found = pending !== undefined ? choices(pending) : current.startsWith("-") ? options(command, before) : [...subcommands(command), ...(await argumentValues(command, positional, ids))];
  return found.filter((candidate) => candidate.value.startsWith(current));
}

interface Parsed {
  command: Command;
  /** Arguments of the command that are complete. */
  positional: string[];
  /** An option that waits for its value. */
  pending: Option | undefined;
}

function parse(program: Command, words: readonly string[]): Parsed {
  let command = program;
  const positional: string[] = [];
  let pending: Option | undefined;
  for (const word of words) {
    if (pending !== undefined) pending = undefined;
    else if (word.startsWith("-")) pending = takesValue(command.options.find((option) => option.long === word || option.short === word));
    else {
      const next = positional.length === 0 ? command.commands.find((one) => one.name() === word) : undefined;
      if (next === undefined) positional.push(word);
      else command = next;
    }
  }
  return { command, positional, pending };
}

function takesValue(option: Option | undefined): Option | undefined {
  return option !== undefined && (option.required || option.optional) ? option : undefined;
}

function subcommands(command: Command): Candidate[] {
  return command.createHelp().visibleCommands(command).map((one) => ({ value: one.name(), text: one.summary() || one.description() }));
}

function options(command: Command, used: readonly string[]): Candidate[] {
  return command.createHelp().visibleOptions(command)
    .filter((option) => option.long !== undefined && !used.includes(option.long))
    .map((option) => ({ value: option.long ?? "", text: option.description }));
}

function choices(holder: Option | Argument): Candidate[] {
  return (holder.argChoices ?? []).map((value) => ({ value, text: "" }));
}

async function argumentValues(command: Command, positional: readonly string[], ids: IdSource): Promise<Candidate[]> {
  const argument = command.registeredArguments[positional.length];
  if (argument === undefined) return [];
  if (argument.argChoices !== undefined) return choices(argument);
  if (argument.name() === "id") return await ids.migrations();
  return argument.name() === "diff" && positional[0] !== undefined ? await ids.diffs(positional[0]) : [];
}
