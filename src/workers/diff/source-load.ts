/** Kindness to the source: no chunk begins while it is loaded, or while a replica of it lags. */
import { orAborted, sleep } from "../../shared/abort.js";
import type { DiffOptions } from "../../shared/contracts/diff.js";
import type { Logger } from "../../shared/logger.js";
import type { ByteSql } from "../../shared/mysql/bytes.js";
import type { Connections } from "../../shared/mysql/connections.js";
import type { Session, TextRecord } from "../../shared/mysql/session.js";

/** How old a look at a server may be, in milliseconds. */
const FRESH = 1_000;
const PAUSE = 500;

export interface SourceLoadOptions {
  connections: Connections;
  log: Logger;
  /** How long to hold back at most, in milliseconds: a diff on a source that is always loaded is slow, but it goes on. */
  patience: number;
  /** Fires when the process ends. */
  ending: AbortSignal;
}

/** What of the diff's options says when to hold back. */
export type LoadLimits = Pick<DiffOptions, "maxThreadsRunning" | "replica" | "maxReplicaLag">;

/** One per process: all its chunks share the looks. */
export class SourceLoad {
  private readonly options: SourceLoadOptions;
  private readonly looks = new Map<string, { at: number; value: Promise<number> }>();

  constructor(options: SourceLoadOptions) {
    this.options = options;
  }

  /** Returns when the source is calm, or the patience is over. */
  async calm(source: string, limits: LoadLimits, signal: AbortSignal): Promise<void> {
    const until = Date.now() + this.options.patience;
    while ((await this.loaded(source, limits, signal)) && Date.now() < until) await sleep(PAUSE, signal);
  }

  private async loaded(source: string, limits: LoadLimits, signal: AbortSignal): Promise<boolean> {
    if ((await this.look(source, threadsRunning, signal)) > limits.maxThreadsRunning) return true;
    if (limits.replica === null) return false;
    try {
      return (await this.look(limits.replica, replicaLag, signal)) > limits.maxReplicaLag;
    } catch (error) {
      if (signal.aborted) throw error;
      // Its lag is not known: as if it lagged.
      this.options.log.debug({ replica: limits.replica, err: error }, "a replica does not tell its lag");
      return true;
    }
  }

  private look(server: string, figure: (session: Session) => Promise<number>, signal: AbortSignal): Promise<number> {
    const key = `${figure.name}/${server}`;
    const known = this.looks.get(key);
    if (known !== undefined && Date.now() - known.at < FRESH) return orAborted(known.value, signal);
    // Shared, so it must not end with the chunk that happened to ask first.
    const value = this.options.connections.use(server, "source", this.options.ending, figure);
    const look = { at: Date.now(), value };
    this.looks.set(key, look);
    value.catch(() => {
      if (this.looks.get(key) === look) this.looks.delete(key);
    });
    return orAborted(value, signal);
  }
}

async function threadsRunning(session: Session): Promise<number> {
  const [row] = await session.rows("SHOW GLOBAL STATUS LIKE 'Threads_running'" as ByteSql);
  return Number(row?.["Value"] ?? 0);
}

/** Milliseconds; Infinity when it does not replicate. Several channels or sources: the one that lags most. */
async function replicaLag(session: Session): Promise<number> {
  const rows = await session.rows((renamed(session) ? "SHOW REPLICA STATUS" : session.isMariaDb ? "SHOW ALL SLAVES STATUS" : "SHOW SLAVE STATUS") as ByteSql);
  return rows.length === 0 ? Infinity : Math.max(...rows.map(lagOf));
}

function lagOf(row: TextRecord): number {
  const seconds = row["Seconds_Behind_Source"] ?? row["Seconds_Behind_Master"] ?? null;
  return seconds === null ? Infinity : Number(seconds) * 1_000;
}

/** MySQL says REPLICA from 8.0.22 on, and nothing else from 8.4 on. */
function renamed(session: Session): boolean {
  const [major = 0, minor = 0, patch = 0] = session.version.split(/[.-]/).map(Number);
  return !session.isMariaDb && (major > 8 || (major === 8 && (minor > 0 || patch >= 22)));
}
