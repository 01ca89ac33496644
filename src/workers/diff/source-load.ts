/** Kindness to the source: no chunk begins while it is loaded. */
import { sleep } from "../../shared/abort.js";
import type { ByteSql } from "../../shared/mysql/bytes.js";
import type { Sides } from "./sides.js";

/** How old a look at the source may be, in milliseconds. */
const FRESH = 1_000;
const PAUSE = 500;

export interface SourceLoadOptions {
  maxThreadsRunning: number;
  /** How long to hold back at most, in milliseconds: a diff on a source that is always loaded is slow, but it goes on. */
  patience: number;
}

/** One per process: all its chunks share the looks. */
export class SourceLoad {
  private readonly options: SourceLoadOptions;
  private readonly looks = new Map<string, { at: number; loaded: Promise<boolean> }>();

  constructor(options: SourceLoadOptions) {
    this.options = options;
  }

  /** Returns when the source is calm, or the patience is over. */
  async calm(source: string, sides: Sides): Promise<void> {
    const until = Date.now() + this.options.patience;
    while ((await this.loaded(source, sides)) && Date.now() < until) await sleep(PAUSE, sides.signal);
  }

  private loaded(source: string, sides: Sides): Promise<boolean> {
    const known = this.looks.get(source);
    if (known !== undefined && Date.now() - known.at < FRESH) return known.loaded;
    const loaded = sides.use("source", async (session) => {
      const [row] = await session.rows("SHOW GLOBAL STATUS LIKE 'Threads_running'" as ByteSql);
      return Number(row?.["Value"] ?? 0) > this.options.maxThreadsRunning;
    });
    this.looks.set(source, { at: Date.now(), loaded });
    // The one who looked may have been aborted: the next one looks again.
    loaded.catch(() => this.looks.delete(source));
    return loaded;
  }
}
