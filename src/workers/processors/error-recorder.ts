/** Records errors of migrations: those that are retried in the background, and the one that ends the migration at once. */
import type { Logger } from "../../shared/logger.js";
import type { ByteSql } from "../../shared/mysql/bytes.js";
import type { Connections } from "../../shared/mysql/connections.js";
import type { Session } from "../../shared/mysql/session.js";
import type { State } from "../../shared/state/state.js";
import { WORKING_PHASES } from "../../shared/state/migrations.js";
import { NOW, isoOf } from "../../shared/state/values.js";
import type { MigrationRef } from "../context.js";
import { ErrorSaver } from "../error-saver.js";

export interface ErrorRecorderOptions {
  connections: Connections;
  state: State;
  log: Logger;
  shutdown: AbortSignal;
}

/** An error is as good as new for this long (milliseconds). */
const PROMPT = 1_000;

export class ErrorRecorder {
  private readonly options: ErrorRecorderOptions;
  private readonly saver: ErrorSaver;

  constructor(options: ErrorRecorderOptions) {
    this.options = options;
    this.saver = new ErrorSaver(options, options.shutdown);
  }

  /** Records an error that is retried; returns at once. */
  record(ref: MigrationRef, error: unknown): void {
    const since = performance.now();
    void this.saver.save(ref.migration, ref.target, async (session) => {
      if (!(await this.isOver(session, ref, since))) await this.options.state.migrations.recordError(session, ref.migration, error);
    });
  }

  /**
   * Marks the migration failed, now.
   * @throws what the state server says: the caller comes back later, meets the same error and tries again
   */
  async fail(ref: MigrationRef, error: unknown): Promise<void> {
    const { connections, state, shutdown } = this.options;
    this.saver.forget(ref.migration);
    await connections.transaction(ref.target, "target", shutdown, async (session) => {
      await state.migrations.recordError(session, ref.migration, error);
      if (await state.migrations.changePhase(session, ref.migration, WORKING_PHASES, "failed")) await state.fence.bumpEpoch(session, ref.migration);
    });
  }

  /**
   * Whether the migration has moved since the error: an error that could not be saved until then would stand there for as
   * long as nothing else happens. Compared by the target's clock alone.
   * @param since when the error happened, by `performance.now()`
   */
  private async isOver(session: Session, ref: MigrationRef, since: number): Promise<boolean> {
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
