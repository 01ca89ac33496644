/**
 * Saves errors of migrations and diffs with backoff until they are saved or the process ends (promise 4): the server that
 * should record an error is often the one that failed. Of one item only the latest error waits.
 */
import { sleep } from "../shared/abort.js";
import { backoffDelay } from "../shared/backoff.js";
import { DroverError, type ErrorCode } from "../shared/errors.js";
import type { Session } from "../shared/mysql/session.js";
import type { EngineContext } from "./context.js";

/** Milliseconds. */
const PAUSE = { first: 100, cap: 3_000 };
/**
 * No retry of this process heals these: it lacks the connection, the state schema is another version's, what the error is of
 * was removed. A refusal for want of a grant is not among them: the grant may come.
 */
const HOPELESS: ReadonlySet<ErrorCode> = new Set(["CONFIG_INVALID", "STATE_VERSION", "NOT_FOUND"]);

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

  /** What waits for this item is not saved any more. */
  forget(item: string): void {
    this.waiting.delete(item);
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
        const code = error instanceof DroverError ? error.code : "BUG";
        if (!HOPELESS.has(code)) {
          this.context.log.debug({ item, err: error }, "an error could not be saved yet");
          // Closed connections mean that the process ends.
          return code === "ABORTED";
        }
        this.context.log.warn({ item, code, message: (error as DroverError).message }, "an error cannot be saved by this worker");
      }
      if (this.waiting.get(item) === entry) this.waiting.delete(item);
    }
    return true;
  }
}
