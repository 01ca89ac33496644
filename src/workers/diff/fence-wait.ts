/**
 * Waiting until the target holds everything that a source read saw: the fence has passed the position that was read
 * after it. No statement runs and no session is held while waiting.
 */
import { sleep } from "../../shared/abort.js";
import { DroverError } from "../../shared/errors.js";
import { positionCovers } from "../../shared/mysql/position.js";
import type { Session } from "../../shared/mysql/session.js";
import type { EngineContext, MigrationRef } from "../context.js";
import type { Sides } from "./sides.js";

export type FenceVerdict =
  /** Everything up to the position is on the target. */
  | "passed"
  /** Nothing is applied any more, by design: the two tables are compared as they are. */
  | "no-follow"
  /** The migration is paused or failed: what differs may only be late. */
  | "halted";

const FIRST_PAUSE = 10;
const LONGEST_PAUSE = 250;

export class FenceWait {
  private readonly context: EngineContext;
  private readonly ref: MigrationRef;
  private readonly sides: Sides;
  /** How long the fence may stand still while the migration is at work, in milliseconds. */
  private readonly patience: number;

  constructor(options: { context: EngineContext; ref: MigrationRef; sides: Sides; patience: number }) {
    this.context = options.context;
    this.ref = options.ref;
    this.sides = options.sides;
    this.patience = options.patience;
  }

  /**
   * Returns when the fence has passed `position`, or cannot.
   * @throws DroverError SERVER_BUSY when the fence stood still for too long although the migration is at work, or when tables are
   *   being copied again: no fault of the rows, so it comes again without counting; NOT_FOUND; ABORTED
   */
  async until(position: string): Promise<FenceVerdict> {
    let pause = FIRST_PAUSE;
    let seq = -1;
    let since = Date.now();
    for (;;) {
      const now = await this.sides.use("target", (session) => this.look(session));
      if (now === "no-follow") return now;
      if (positionCovers(now.position, position)) return "passed";
      if (now.halted) return "halted";
      if (now.seq !== seq) {
        seq = now.seq;
        since = Date.now();
      } else if (Date.now() - since > this.patience) {
        throw this.busy(`nothing was applied for ${this.patience} ms, so differences cannot be told from lag`);
      }
      await sleep(pause, this.sides.signal);
      pause = Math.min(LONGEST_PAUSE, pause * 1.5);
    }
  }

  private busy(what: string): DroverError {
    return this.sides.excuse(new DroverError("SERVER_BUSY", `migration ${this.ref.migration}: ${what}`));
  }

  private async look(session: Session): Promise<"no-follow" | { halted: boolean; position: string; seq: number }> {
    const migration = await this.context.state.migrations.require(session, this.ref.migration);
    // After the end of a copy, or of the whole migration, no event will come: both sides are what they are.
    if (migration.spec.mode === "copy" || migration.phase === "completed" || migration.phase === "stopped") return "no-follow";
    // A table that was altered starts over: what it lacks is still to come, and the fence stands still meanwhile.
    if (migration.phase === "planning" || migration.phase === "copying") throw this.busy(`it is ${migration.phase} again, so differences cannot be told from rows that are still to come`);
    const fence = await this.context.state.fence.require(session, this.ref.migration);
    return { halted: migration.phase === "paused" || migration.phase === "failed", position: fence.position, seq: fence.seq };
  }
}
