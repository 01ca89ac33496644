/** The source's read-only switches: `read_only`, and on MySQL `super_read_only`, which stops administrators too. */
import type { ReadOnlyBefore } from "../../shared/contracts/cutover.js";
import type { ByteSql } from "../../shared/mysql/bytes.js";
import type { Session } from "../../shared/mysql/session.js";

export async function readSwitches(session: Session): Promise<ReadOnlyBefore> {
  const rows = await session.rows("SHOW GLOBAL VARIABLES WHERE Variable_name IN ('read_only', 'super_read_only')" as ByteSql);
  const values = new Map(rows.map((row) => [row["Variable_name"]?.toLowerCase(), row["Value"]]));
  // From MariaDB 12 on `read_only` has more values than OFF and ON.
  const on = (name: string) => !["OFF", "0", "NO"].includes(values.get(name)?.toUpperCase() ?? "OFF");
  return { readOnly: on("read_only"), superReadOnly: values.has("super_read_only") ? on("super_read_only") : null };
}

/** Nobody but replication writes any more. */
export function isClosed({ readOnly, superReadOnly }: ReadOnlyBefore): boolean {
  return readOnly && superReadOnly !== false;
}

/**
 * Waits for statements that write, 4 s at most (`lock_wait_timeout` of our sessions), and keeps new ones waiting meanwhile. Open
 * transactions fail when they commit.
 * @param isDue asked when the session is open already. A worker that is stopped behind the question for long finds its session closed
 *   (`wait_timeout`, 5 s) when it wakes: it cannot close a source that was opened again by then.
 * @returns false when it is not due any more, and nothing was done
 */
export async function closeSource(session: Session, isDue: () => Promise<boolean>): Promise<boolean> {
  const { superReadOnly } = await readSwitches(session);
  if (!(await isDue())) return false;
  await session.run((superReadOnly === null ? "SET GLOBAL read_only=ON" : "SET GLOBAL super_read_only=ON") as ByteSql);
  return true;
}

/** Puts the switches back to how they were. */
export async function openSource(session: Session, before: ReadOnlyBefore): Promise<void> {
  // Turning `read_only` off turns the other one off too.
  if (before.superReadOnly === false) await session.run("SET GLOBAL super_read_only=OFF" as ByteSql);
  if (!before.readOnly) await session.run("SET GLOBAL read_only=OFF" as ByteSql);
}

/** For a migration back: accounts with CONNECTION_ADMIN write again, Drover's among them; others still may not. */
export async function admitAdministrators(session: Session): Promise<void> {
  if ((await readSwitches(session)).superReadOnly === true) await session.run("SET GLOBAL super_read_only=OFF" as ByteSql);
}
