/** Ends another session on a server; it must be of our own account, or the account needs a privilege for it. */
import { DroverError } from "../errors.js";
import type { ByteSql } from "./bytes.js";
import type { Session } from "./session.js";

/** ER_NO_SUCH_THREAD: it ended by itself meanwhile. */
const NO_SUCH_SESSION = 1094;

/**
 * Best on a session of its own: an error destroys it.
 * @param id the server's connection id
 * @returns false when the session had ended by itself
 */
export async function killSession(session: Session, id: number): Promise<boolean> {
  try {
    await session.run(`KILL ${id}` as ByteSql);
    return true;
  } catch (error) {
    if (error instanceof DroverError && error.errno === NO_SUCH_SESSION) return false;
    throw error;
  }
}
