/**
 * Saves the errors of migrations, with backoff, until they are saved or the process ends (promise 4): the server that
 * should record an error is often the one that failed. Only the latest error of a migration waits.
 */
import { sleep } from "../../shared/abort.js";
import { backoffDelay } from "../../shared/backoff.js";
import type { Logger } from "../../shared/logger.js";
import type { ByteSql } from "../../shared/mysql/bytes.js";
import type { Connections } from "../../shared/mysql/connections.js";
import type { Session } from "../../shared/mysql/session.js";
import type { State } from "../../shared/state/state.js";
import { WORKING_PHASES } from "../../shared/state/migrations.js";
import { NOW, isoOf } from "../../shared/state/values.js";
import type { MigrationRef } from "../context.js";

export interface ErrorRecorderOptions {
  connections: Connections;
  state: State;
  log: Logger;
  shutdown: AbortSignal;
}

interface WaitingError {
  ref: MigrationRef;
  error: unknown;
  /** When it happened, by `performance.now()`. */
  since: number;
}

/** An error is as good as new for this long (milliseconds). */
const PROMPT = 1_000;

export class ErrorRecorder {
  private readonly options: ErrorRecorderOptions;
  private readonly waiting = new Map<string, WaitingError>();
  private readonly saving = new Set<string>();

  constructor(options: ErrorRecorderOptions) {
    this.options = options;
  }

  /** Records an error that is retried; returns at once. */
  record(ref: MigrationRef, error: unknown): void {
    this.waiting.set(ref.migration, { ref, error, since: performance.now() });
    void this.save(ref.migration);
  }

  /**
   * Marks the migration failed, now.
   * @throws what the state server says: the caller comes back later, meets the same error and tries again
   */
  async fail(ref: MigrationRef, error: unknown): Promise<void> {
    const { connections, state, shutdown } = this.options;
    this.waiting.delete(ref.migration);
    await connections.transaction(ref.target, "target", shutdown, async (session) => {
      await state.migrations.recordError(session, ref.migration, error);
      if (await state.migrations.changePhase(session, ref.migration, WORKING_PHASES, "failed")) await state.fence.bumpEpoch(session, ref.migration);
    });
  }

  private async save(migration: string): Promise<void> {
    if (this.saving.has(migration)) return;
    this.saving.add(migration);
    const { connections, state, log, shutdown } = this.options;
    for (let attempt = 1; !shutdown.aborted; attempt++) {
      const entry = this.waiting.get(migration);
      if (!entry) break;
      try {
        await connections.use(entry.ref.target, "target", shutdown, async (session) => {
          if (!(await this.isOver(session, entry))) await state.migrations.recordError(session, migration, entry.error);
        });
        if (this.waiting.get(migration) === entry) this.waiting.delete(migration);
      } catch (error) {
        log.debug({ migration, err: error }, "an error could not be saved yet");
        await sleep(backoffDelay(attempt), shutdown).catch(() => undefined);
      }
    }
    this.saving.delete(migration);
  }

  /**
   * Whether the migration has moved since the error: an error that could not be saved until then would stand there for as
   * long as nothing else happens. Compared by the target's clock alone.
   */
  private async isOver(session: Session, { ref, since }: WaitingError): Promise<boolean> {
    const { state } = this.options;
    const age = performance.now() - since;
    if (age < PROMPT) return false;
    const [clock] = await session.rows(`SELECT ${NOW} AS now` as ByteSql);
    const migration = await state.migrations.read(session, ref.migration);
    const fence = await state.fence.read(session, ref.migration);
    const moved = [migration?.progressAt, fence?.updatedAt].map((at) => Date.parse(at ?? "") || 0);
    return Math.max(...moved) > Date.parse((clock && isoOf(clock, "now")) ?? "") - age;
  }
}
