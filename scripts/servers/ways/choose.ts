import type { Kind, Way } from "./way.js";

/** What the first way that this machine offers answers; when there is none, one error that says what each one lacked. */
export async function chooseWay<T>(kind: Kind, ways: readonly Way[], ask: (way: Way) => Promise<T>): Promise<T> {
  const reasons: string[] = [];
  for (const way of ways) {
    try {
      return await ask(way);
    } catch (error) {
      reasons.push(`  ${way.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new Error(`no way to get a ${kind} server here. Tried:\n${reasons.join("\n")}`);
}
