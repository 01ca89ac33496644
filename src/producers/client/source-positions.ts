/** What the sources have executed, for lag; a source that is down must not slow a status down. */
import { within } from "../../shared/abort.js";
import { executedPosition } from "../../shared/mysql/position.js";
import type { Connections } from "../../shared/mysql/connections.js";

/** How long a source may take to answer, in milliseconds. */
const PATIENCE = 2_000;
/** How long a source that did not answer is left alone, in milliseconds. */
const RETRY_AFTER = 5_000;

export class SourcePositions {
  private readonly connections: Connections;
  private readonly failedAt = new Map<string, number>();

  constructor(connections: Connections) {
    this.connections = connections;
  }

  /** Null when the source does not answer, or is not configured here. */
  async read(source: string, signal: AbortSignal): Promise<string | null> {
    if (Date.now() - (this.failedAt.get(source) ?? 0) < RETRY_AFTER) return null;
    try {
      const position = await this.ask(source, signal);
      this.failedAt.delete(source);
      return position;
    } catch {
      if (!signal.aborted) this.failedAt.set(source, Date.now());
      return null;
    }
  }

  /** @throws DroverError CONNECTION_LOST and what else can be wrong with a connection; ABORTED after the time limit */
  async ask(source: string, signal: AbortSignal): Promise<string> {
    return await within(PATIENCE, signal, (limited) => this.connections.use(source, "source", limited, executedPosition));
  }
}
