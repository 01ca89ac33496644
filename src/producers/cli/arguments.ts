/** Arguments as people write them, to values; what is wrong is a usage error. */
import { InvalidArgumentError } from "commander";
import { parseDuration } from "../../shared/units.js";

/** `60s`, `500ms`, `2h`; a bare number counts seconds, as everywhere on a command line. */
export function durationArgument(text: string): number {
  const milliseconds = /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) * 1000 : parseDuration(text);
  if (milliseconds === undefined || milliseconds <= 0) throw new InvalidArgumentError("Expected a duration such as 60s, 500ms or 2h.");
  return milliseconds;
}

/** A whole number from `least` on. */
export function integerArgument(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < least) throw new InvalidArgumentError(`Expected a whole number from ${least} on.`);
    return value;
  };
}

/** `a,b` to its parts; spaces around them do not count. */
export function listArgument(text: string): string[] {
  const parts = text.split(",").map((part) => part.trim());
  if (parts.includes("")) throw new InvalidArgumentError("Expected names with commas between them.");
  return parts;
}

/** Names of a fixed set. */
export function choicesArgument<T extends string>(choices: readonly T[]): (text: string) => T[] {
  return (text) =>
    listArgument(text).map((part) => {
      if ((choices as readonly string[]).includes(part)) return part as T;
      throw new InvalidArgumentError(`"${part}" is none of ${choices.join(", ")}.`);
    });
}
