/** Step 2a of the protocol: a read must see everything up to the fence's position (a source may be a replica, or a server failed over to). */
import { sleep } from "../shared/abort.js";
import { DroverError } from "../shared/errors.js";
import type { ByteSql } from "../shared/mysql/bytes.js";
import { Position, executedPosition, positionCovers } from "../shared/mysql/position.js";
import type { Session } from "../shared/mysql/session.js";

const POLL = 100;
const PATIENCE = 10_000;

/** @throws DroverError SERVER_UNAVAILABLE when the server does not get there in time */
export async function waitUntilVisible(source: Session, position: string, signal: AbortSignal): Promise<void> {
  await wait(source, async () => positionCovers(await executedPosition(source), position), signal);
}

/**
 * The same for a position that need only be in the server's history. MariaDB counts a transaction that came from another server neither as its own nor,
 * where it does not replicate any more, as a replica's: its binlog has it all the same.
 * @throws DroverError SERVER_UNAVAILABLE
 */
export async function waitUntilKnown(source: Session, position: string, signal: AbortSignal): Promise<void> {
  await wait(source, async () => {
    if (positionCovers(await executedPosition(source), position)) return true;
    const [row] = source.isMariaDb ? await source.rows("SELECT @@GLOBAL.gtid_binlog_pos AS position" as ByteSql) : [];
    return row !== undefined && positionCovers(Position.parse(row["position"] ?? "").toString(), position);
  }, signal);
}

async function wait(source: Session, isThere: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
  for (let waited = 0; !(await isThere()); waited += POLL) {
    if (waited >= PATIENCE)
      throw new DroverError("SERVER_UNAVAILABLE", `${source.server} has not executed everything that the target has applied`, {
        cure: "a replica that lags heals by itself; another server needs the same GTID history",
      });
    await sleep(POLL, signal);
  }
}
