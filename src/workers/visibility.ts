/** Step 2a of the protocol: a read must see everything up to the fence's position (a source may be a replica, or a server failed over to). */
import { sleep } from "../shared/abort.js";
import { DroverError } from "../shared/errors.js";
import { executedPosition, positionCovers } from "../shared/mysql/position.js";
import type { Session } from "../shared/mysql/session.js";

const POLL = 100;
const PATIENCE = 10_000;

/** @throws DroverError SERVER_UNAVAILABLE when the server does not get there in time */
export async function waitUntilVisible(source: Session, position: string, signal: AbortSignal): Promise<void> {
  for (let waited = 0; !positionCovers(await executedPosition(source), position); waited += POLL) {
    if (waited >= PATIENCE)
      throw new DroverError("SERVER_UNAVAILABLE", `${source.server} has not executed everything that the target has applied`, {
        cure: "a replica that lags heals by itself; another server needs the same GTID history",
      });
    await sleep(POLL, signal);
  }
}
