/**
 * The applier (design §4, step 4): takes the next batch in order, whichever job rang, and writes it under the fence's
 * exclusive lock. In one transaction the target always stands at a source transaction boundary while streaming.
 *
 * I2: batches are applied one after the other. I3: epoch, seq and position are checked in the transaction that writes.
 */
import type { Redis } from "ioredis";
import { decodeBatch, type Batch, type BatchInfo, type BatchStatement } from "../../shared/backlog/batch.js";
import type { BacklogChain, ChainHead } from "../../shared/backlog/chain.js";
import { DroverError } from "../../shared/errors.js";
import type { ByteSql } from "../../shared/mysql/bytes.js";
import type { Session } from "../../shared/mysql/session.js";
import type { Fence } from "../../shared/state/fence.js";
import type { Migration } from "../../shared/state/migrations.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import type { EngineContext, MigrationRef } from "../context.js";
import { applyToTable } from "../target/apply-batch.js";
import { applyNoKeyChanges } from "../target/no-key-changes.js";
import type { StateChange, StatementExecutor } from "./statement-barrier.js";

/** `lease`: time is up; `drained`: the copy may go on; `not-due`: nothing may be applied at present. */
export type ApplyEnd = "lease" | "drained" | "not-due";

export interface ApplyOptions {
  chain: BacklogChain;
  executor: StatementExecutor;
  /** A Redis connection for this run alone: it blocks on the bell. */
  blocking: Redis;
  /** A statement was executed: the tail, which waits for that, may go on. */
  onBarrierPassed: () => Promise<void>;
  /** milliseconds */
  lease: number;
}

/** The phase is looked at this often (milliseconds). */
const PHASE_INTERVAL = 1_000;
/** Seconds to wait for the bell. */
const BELL_SECONDS = 1;
/** Draining ends when the backlog is below this part of its limit. */
const DRAINED_PART = 0.1;
/** Weight of the latest batch in the rate that `status` shows. */
const RATE_WEIGHT = 0.2;

export async function runApplier(context: EngineContext, ref: MigrationRef, options: ApplyOptions, signal: AbortSignal): Promise<ApplyEnd> {
  return await new Applier(context, ref, options).run(signal);
}

interface Scope {
  migration: Migration;
  tables: Map<number, MigrationTable>;
  fence: Fence;
  readAt: number;
}

class Applier {
  private readonly context: EngineContext;
  private readonly ref: MigrationRef;
  private readonly options: ApplyOptions;
  private scope: Scope | null = null;
  private rate = 0;
  private lastCommit = Date.now();
  private progressAt = 0;

  constructor(context: EngineContext, ref: MigrationRef, options: ApplyOptions) {
    this.context = context;
    this.ref = ref;
    this.options = options;
  }

  async run(signal: AbortSignal): Promise<ApplyEnd> {
    const { chain, blocking, lease } = this.options;
    const end = Date.now() + lease;
    while (Date.now() < end) {
      const scope = await this.currentScope(signal);
      const { phase } = scope.migration;
      if (phase === "copying" ? !scope.fence.draining && !scope.fence.partial : phase !== "catching-up" && phase !== "streaming") return "not-due";
      if (phase === "copying" && !scope.fence.partial && (await this.drained(scope))) {
        await this.context.connections.use(this.ref.target, "target", signal, (s) => this.context.state.fence.setDraining(s, this.ref.migration, false));
        return "drained";
      }
      const head = await chain.head();
      if (head === null) {
        this.rate = 0;
        await chain.waitForBell(blocking, BELL_SECONDS);
        continue;
      }
      await this.applyHead(scope, head, signal);
    }
    return "lease";
  }

  private async applyHead(scope: Scope, head: ChainHead, signal: AbortSignal): Promise<void> {
    const { chain } = this.options;
    const { info } = head;
    if (info.epoch !== scope.fence.epoch || info.seq > scope.fence.seq + 1) return await this.voidChain(signal);
    if (info.seq <= scope.fence.seq) return await chain.drop(head);
    const began = Date.now();
    const payload = await chain.payloadOf(info);
    if (payload === null) return await this.voidChain(signal, info);
    const batch = decodeBatch(payload);
    await this.context.hooks.at("batch:before-apply", { migration: this.ref.migration, seq: info.seq });
    const applied = batch.statement === null
      ? await this.context.connections.use(this.ref.target, "target", signal, (session) => this.commit(session, scope, info, batch))
      : await this.executeStatement(scope, info, batch, batch.statement, signal);
    if (!applied) return await this.voidChain(signal);
    await this.context.hooks.at("batch:after-commit", { migration: this.ref.migration, seq: info.seq, rows: info.rows, transactions: info.transactions, ms: Date.now() - began });
    await chain.drop(head);
    if (batch.statement !== null) await this.options.onBarrierPassed();
    await this.recordProgress(signal);
  }

  /** At most once a second. */
  private async recordProgress(signal: AbortSignal): Promise<void> {
    if (Date.now() - this.progressAt < PHASE_INTERVAL) return;
    this.progressAt = Date.now();
    await this.context.connections.use(this.ref.target, "target", signal, (s) => this.context.state.migrations.recordProgress(s, this.ref.migration));
  }

  private async executeStatement(scope: Scope, info: BatchInfo, batch: Batch, statement: BatchStatement, signal: AbortSignal): Promise<boolean> {
    const tables = [...scope.tables.values()];
    this.scope = null;
    const of = { ref: this.ref, migration: scope.migration, tables, info };
    return await this.options.executor.execute(statement, of, (session, change) => this.commit(session, scope, info, batch, change), signal);
  }

  /** @returns false when the fence is not where the batch begins: somebody else was faster, or the chain is void */
  private async commit(session: Session, scope: Scope, info: BatchInfo, batch: Batch, change?: StateChange): Promise<boolean> {
    const { state, hooks } = this.context;
    await session.run("BEGIN" as ByteSql);
    const fence = await state.fence.require(session, this.ref.migration, "update");
    if (fence.epoch !== info.epoch || fence.seq + 1 !== info.seq || fence.position !== info.from) {
      await session.run("ROLLBACK" as ByteSql);
      this.scope = null;
      return false;
    }
    for (const rows of batch.tables) {
      const table = scope.tables.get(rows.number);
      if (table === undefined) throw new DroverError("BUG", `batch ${info.seq} holds rows of table ${rows.number}, which the migration does not have`);
      if (rows.changes) await applyNoKeyChanges(state, session, this.ref.migration, rows.number, rows.changes, info.part === true);
      else await applyToTable(session, table, rows);
    }
    const rowsPerSecond = this.measure(info.rows);
    await state.fence.advance(session, this.ref.migration, {
      seq: info.seq, position: info.to, partial: info.part === true, rows: info.rows, transactions: info.transactions, rowsPerSecond,
      sourceTime: info.sourceTime === 0 ? fence.sourceTime : info.sourceTime,
    });
    await change?.(session);
    await hooks.at("batch:before-commit", { migration: this.ref.migration, seq: info.seq });
    await session.run("COMMIT" as ByteSql);
    if (this.scope) this.scope.fence = { ...fence, seq: info.seq, position: info.to, partial: info.part === true };
    return true;
  }

  private measure(rows: number): number {
    const now = Date.now();
    const current = rows / Math.max(0.001, (now - this.lastCommit) / 1000);
    this.lastCommit = now;
    this.rate = this.rate === 0 ? current : this.rate * (1 - RATE_WEIGHT) + current * RATE_WEIGHT;
    return Math.round(this.rate * 100) / 100;
  }

  /**
   * The chain does not fit the fence: the tail begins a new one there.
   * @param lost a batch that fits, without its payload: no retry brings it back, the binlog does
   */
  private async voidChain(signal: AbortSignal, lost: BatchInfo | null = null): Promise<void> {
    this.scope = null;
    const scope = await this.currentScope(signal);
    const head = await this.options.chain.head();
    if (head === null) return;
    const { info } = head;
    const { fence } = scope;
    // Another applier may have been at work: look again before anything is thrown away.
    const isLost = lost !== null && info.chain === lost.chain && info.seq === lost.seq && info.seq > fence.seq;
    if (!isLost && info.epoch === fence.epoch && (info.seq <= fence.seq || (info.seq === fence.seq + 1 && info.from === fence.position))) return;
    await this.options.chain.clear(head);
  }

  private async drained(scope: Scope): Promise<boolean> {
    const { bytes } = await this.options.chain.size();
    return bytes < scope.migration.spec.options.backlogBytes * DRAINED_PART;
  }

  private async currentScope(signal: AbortSignal): Promise<Scope> {
    if (this.scope !== null && Date.now() - this.scope.readAt < PHASE_INTERVAL) return this.scope;
    const { connections, state } = this.context;
    const known = this.scope;
    this.scope = await connections.use(this.ref.target, "target", signal, async (session) => {
      // Definitions change together with the fence: read after it they are never older than it.
      const fence = await state.fence.require(session, this.ref.migration);
      const migration = await state.migrations.require(session, this.ref.migration);
      // And they are the same as long as nobody else has moved the fence: there may be thousands.
      if (known !== null && known.fence.epoch === fence.epoch && known.fence.seq === fence.seq) return { ...known, migration, fence, readAt: Date.now() };
      const tables = await state.tables.list(session, this.ref.migration);
      return { migration, fence, tables: new Map(tables.map((table) => [table.number, table])), readAt: Date.now() };
    });
    return this.scope;
  }
}
