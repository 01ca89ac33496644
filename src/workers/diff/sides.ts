/**
 * The two servers of a comparison. Every statement takes a session of its own from the pool and gives it back: the
 * source never sees a session of ours idle while the diff waits for something else (design §5).
 */
import { BINARY_NAMES, FILTER_NAMES } from "../../shared/keys/chunk-select.js";
import type { Session } from "../../shared/mysql/session.js";
import type { EngineContext, MigrationRef } from "../context.js";
import type { TableDefinition } from "../../shared/columns/table-definition.js";
import type { Subject } from "./subject.js";

export type SideName = "source" | "target";

export class Sides {
  readonly signal: AbortSignal;
  private readonly context: EngineContext;
  /** Errors that say nothing about the rows: a server that cannot be reached, the state schema that cannot be written. */
  private readonly blameless = new WeakSet<object>();
  private readonly names: Record<SideName, string>;

  constructor(context: EngineContext, ref: MigrationRef, source: string, signal: AbortSignal) {
    this.context = context;
    this.names = { source, target: ref.target };
    this.signal = signal;
  }

  /** Runs `work` with a session of that server. */
  async use<T>(side: SideName, work: (session: Session) => Promise<T>): Promise<T> {
    let reached = false;
    try {
      return await this.context.connections.use(this.names[side], side, this.signal, (session) => {
        reached = true;
        return work(session);
      });
    } catch (error) {
      if (!reached && error instanceof Error) this.excuse(error);
      throw error;
    }
  }

  /** Runs `work`, which reads or writes the state schema only. */
  async state<T>(work: (session: Session) => Promise<T>): Promise<T> {
    try {
      return await this.use("target", work);
    } catch (error) {
      if (error instanceof Error) this.excuse(error);
      throw error;
    }
  }

  /** Marks an error as one that says nothing about the rows. */
  excuse<E extends Error>(error: E): E {
    this.blameless.add(error);
    return error;
  }

  /** Whether the error may be the fault of the rows that were read, so that it counts against them. */
  mayBlame(error: unknown): boolean {
    return !(error instanceof Error && this.blameless.has(error));
  }

  /** As `use`, with settings under which the subject's filter means what it means in any client. */
  read<T>(side: SideName, subject: Subject, work: (session: Session, definition: TableDefinition) => Promise<T>): Promise<T> {
    return this.use(side, async (session) => {
      if (subject.where !== null) await session.run(FILTER_NAMES);
      const result = await work(session, subject[side]);
      if (subject.where !== null && session.usable) await session.run(BINARY_NAMES);
      return result;
    });
  }

  /** Both sides at the same time. The first error wins, after both have ended. */
  async both<T>(work: (side: SideName) => Promise<T>): Promise<[T, T]> {
    const [source, target] = await Promise.allSettled([work("source"), work("target")]);
    if (source.status === "rejected") throw source.reason;
    if (target.status === "rejected") throw target.reason;
    return [source.value, target.value];
  }
}
