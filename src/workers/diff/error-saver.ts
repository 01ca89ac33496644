/**
 * Saves errors of diffs with backoff until they are saved or the process ends (promise 4): the server that should record an
 * error is often the one that failed. Of one item only the latest error waits.
 */
import { sleep } from "../../shared/abort.js";
import { backoffDelay } from "../../shared/backoff.js";
import { DroverError } from "../../shared/errors.js";
import type { Session } from "../../shared/mysql/session.js";
import type { EngineContext } from "../context.js";

const PAUSE = { first: 100, cap: 3_000 };

type Save = (session: Session) => Promise<void>;

export class ErrorSaver {
  private readonly context: Pick<EngineContext, "connections" | "log">;
  private readonly ending: AbortSignal;
  private readonly waiting = new Map<string, { target: string; save: Save }>();
  private readonly working = new Set<string>();

  constructor(context: Pick<EngineContext, "connections" | "log">, ending: AbortSignal) {
    this.context = context;
    this.ending = ending;
  }

  /** Saves what `save` writes. Returns when it is saved, or after the first try failed; then it goes on by itself. */
  async save(item: string, target: string, save: Save): Promise<void> {
    const entry = { target, save };
    this.waiting.set(item, entry);
    if (this.working.has(item)) return;
    this.working.add(item);
    if (await this.try(item)) this.working.delete(item);
    else void this.goOn(item);
  }

  private async goOn(item: string): Promise<void> {
    try {
      for (let attempt = 1; !this.ending.aborted; attempt++) {
        await sleep(backoffDelay(attempt, PAUSE), this.ending);
        if (await this.try(item)) break;
      }
    } catch {
      // The process ends: the reconciler of another one takes the diff up again.
    }
    this.working.delete(item);
  }

  /** Whether nothing waits any more. */
  private async try(item: string): Promise<boolean> {
    for (let entry = this.waiting.get(item); entry !== undefined; entry = this.waiting.get(item)) {
      try {
        await this.context.connections.use(entry.target, "target", this.ending, entry.save);
      } catch (error) {
        this.context.log.debug({ item, err: error }, "an error of a diff could not be saved yet");
        // Closed connections mean that the process ends.
        return error instanceof DroverError && error.kind === "aborted";
      }
      if (this.waiting.get(item) === entry) this.waiting.delete(item);
    }
    return true;
  }
}
