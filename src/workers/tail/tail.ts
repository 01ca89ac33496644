/**
 * The tail (design §4, step 3): streams the binlog from the chain's tip, cuts it into batches at transaction boundaries
 * by rows, bytes and time, and appends them. It works for the length of a lease and ends at a boundary, so that the
 * next lease goes on from there, on whatever worker.
 *
 * A transaction larger than `PART_FACTOR` batches goes out in parts. A part's `from` and `to` are both the position before the
 * transaction; only the last part moves it. So memory is bounded, the fence never claims half a transaction, and after
 * a crash in between the whole transaction is read and applied again from its beginning, which heals the rows that were
 * ahead (docs/protocol.md, "Large transactions").
 */
import { randomInt } from "node:crypto";
import { sleep } from "../../shared/abort.js";
import { encodeBatch } from "../../shared/backlog/batch.js";
import type { BacklogChain } from "../../shared/backlog/chain.js";
import type { TableName } from "../../shared/columns/table-definition.js";
import { DroverError } from "../../shared/errors.js";
import { tlsOptions } from "../../shared/mysql/open-session.js";
import type { ServerAddress } from "../../shared/mysql/server-address.js";
import { Position } from "../../shared/mysql/position.js";
import { allowsNoKey } from "../../shared/selection/no-key.js";
import type { Migration } from "../../shared/state/migrations.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import type { BinlogHandler, BinlogStatement, TransactionStart } from "../binlog/events.js";
import { openBinlogStream, type BinlogStream } from "../binlog/stream.js";
import type { EngineContext, MigrationRef } from "../context.js";
import { waitUntilKnown } from "../visibility.js";
import { BatchBuilder } from "./batch-builder.js";
import { BACKLOG_POLL, BatchSender } from "./batch-sender.js";
import { isFollowing, readBeginning, type Beginning } from "./beginning.js";
import { FollowedTables } from "./followed-tables.js";
import { readMissed } from "./missed-tables.js";
import { readSourceNaming, type SourceNaming } from "./shape-difference.js";
import type { StatementPolicy } from "./statements.js";

/**
 * `lease`: time is up; `barrier`: a statement must be executed first; `restarted`: tables start over, the chain begins anew;
 * `not-due`: nothing to follow at present.
 */
export type TailEnd = "lease" | "barrier" | "restarted" | "not-due";

export interface TailOptions {
  chain: BacklogChain;
  policy: StatementPolicy;
  /** milliseconds */
  lease: number;
}

/** A transaction goes out in parts when it is this many batches large. */
const PART_FACTOR = 4;
/** How often the loop looks around, in milliseconds, while the backlog is empty and while it is not. */
const IDLE_TICK = 100;
const BUSY_TICK = 10;
/** The dump, and the session that would end it. */
const STREAM_SESSIONS = 2;

export async function runTail(context: EngineContext, ref: MigrationRef, options: TailOptions, signal: AbortSignal): Promise<TailEnd> {
  const begin = await readBeginning(context, ref, options.chain, signal);
  if (begin === null) return "not-due";
  const naming = await context.connections.use(begin.migration.spec.source, "source", signal, async (session) => {
    // A source that was failed over to and has lost what we applied sends its stream all the same: it looks for its own transactions only.
    await waitUntilKnown(session, begin.tip.position, signal);
    return await readSourceNaming(session);
  });
  const isMissed = await readMissed(context, ref, begin.migration, naming.ignoreCase, signal);
  const tail = new Tail(context, ref, options, begin, naming, isMissed);
  return await tail.run(signal);
}

class Tail implements BinlogHandler {
  private readonly context: EngineContext;
  private readonly ref: MigrationRef;
  private readonly options: TailOptions;
  private readonly migration: Migration;
  private readonly position: Position;
  private readonly tables: FollowedTables;
  private readonly sender: BatchSender;
  private readonly builder = new BatchBuilder();
  private stream: BinlogStream | null = null;
  private transaction: TransactionStart | null = null;
  private transactions = 0;
  private sourceTime = 0;
  /** When the oldest change in the builder came, by this process's clock; 0 when there is none. */
  private builderSince = 0;
  /** The position in the chain is behind ours although no row of ours came: it is written now and then. */
  private quietSince = 0;
  private checkedAt = Date.now();
  private readonly epoch: number;
  /** A statement that must be decided on before anything behind it is read. */
  private undecided: Undecided | null = null;
  /** Too much is on its way: the reader waits. */
  private pressed = false;
  private ending: TailEnd | null = null;
  /** The error that the state shows, and since when (`Date.now()`) this tail has seen it there. */
  private shownError = { at: "", since: 0 };
  private wake: (() => void) | null = null;

  constructor(context: EngineContext, ref: MigrationRef, options: TailOptions, begin: Beginning, naming: SourceNaming, isMissed: (name: TableName) => boolean) {
    this.context = context;
    this.ref = ref;
    this.options = options;
    this.migration = begin.migration;
    this.epoch = begin.tip.epoch;
    this.position = Position.parse(begin.tip.position);
    const { spec } = begin.migration;
    this.tables = new FollowedTables(begin.tables, this.position, naming, (table, beforeKey, afterKey, after) => this.onRow(table, beforeKey, afterKey, after),
      (table) => table.where === null && allowsNoKey(spec, table.source), isMissed);
    this.sender = new BatchSender({
      chain: options.chain,
      tip: begin.tip,
      limit: begin.migration.spec.options.backlogBytes,
      window: begin.migration.spec.options.batchBytes * 2,
      hooks: context.hooks,
      migration: ref.migration,
      onPressure: (stop) => {
        this.pressed = stop;
        this.flow();
      },
    });
  }

  async run(signal: AbortSignal): Promise<TailEnd> {
    const address = this.context.connections.address(this.migration.spec.source);
    const release = await this.context.connections.reserve(this.migration.spec.source, STREAM_SESSIONS, signal);
    try {
      return await this.follow(address, signal);
    } finally {
      release();
    }
  }

  private async follow(address: ServerAddress, signal: AbortSignal): Promise<TailEnd> {
    this.stream = await openBinlogStream({
      host: address.host,
      port: address.port,
      user: address.user,
      password: address.password,
      ...tlsOptions(address),
      connectAttributes: { program_name: "drover", drover_worker: this.context.worker, drover_role: "tail", drover_deployment: this.context.connections.deployment },
      // Two followers with one id throw each other out: the upper half of the range is ours, and ids are never reused.
      serverId: 0x8000_0000 + randomInt(0x7fff_ffff),
      position: this.position.toString(),
      handler: this,
      signal,
    });
    const end = Date.now() + this.options.lease;
    try {
      let over: { error: unknown } | null = null as { error: unknown } | null;
      const onEnd = (error: unknown) => {
        over = { error };
        this.wake?.();
      };
      this.stream.ended.then(() => onEnd(new DroverError("CONNECTION_LOST", `${this.migration.spec.source}: the binlog stream ended`)), onEnd);
      while (this.ending === null) {
        // One that is woken leaves nothing behind: on a busy source that is a thousand times a second.
        if (over === null) await sleep(this.tick(), signal, (wake) => (this.wake = wake));
        if (over !== null) throw over.error;
        if (this.sender.failed !== null) throw this.sender.failed;
        if (this.undecided !== null) await this.decide(this.undecided, signal);
        // What this tail has sent is void.
        if (this.ending === "restarted") return this.ending;
        await this.onTick(signal);
        if (Date.now() >= end && this.transaction === null) this.ending ??= "lease";
      }
      await this.sender.flush();
      return this.ending;
    } finally {
      this.sender.close();
      await this.stream.close();
    }
  }

  begin(transaction: TransactionStart): void {
    this.transaction = transaction;
    this.tables.beginTransaction(transaction.gtid);
  }

  table(table: Parameters<BinlogHandler["table"]>[0]): ReturnType<BinlogHandler["table"]> {
    return this.tables.sink(table);
  }

  statement(statement: BinlogStatement): void {
    if (this.ending !== null) return;
    if (this.transaction === null) throw new DroverError("BUG", "a statement outside a transaction");
    this.undecided = { statement, transaction: this.transaction, committed: false };
    this.flow();
    this.wake?.();
  }

  commit(): void {
    const transaction = this.transaction;
    this.transaction = null;
    if (transaction === null || this.ending !== null) return;
    if (this.undecided !== null) this.undecided.committed = true;
    else this.committed(transaction);
  }

  private committed(transaction: TransactionStart): void {
    this.position.add(transaction.gtid);
    this.transactions += 1;
    this.sourceTime = transaction.committedAt;
    if (this.quietSince === 0) this.quietSince = Date.now();
    const { batchRows, batchBytes } = this.migration.spec.options;
    if (this.builder.changes >= batchRows || this.builder.bytes >= batchBytes) this.cut(this.position.toString());
    else if (!this.builder.empty && this.sender.idle) this.wake?.();
  }

  private onRow(table: MigrationTable, beforeKey: string | null, afterKey: string | null, after: Buffer | null): void {
    if (this.ending !== null) return;
    if (this.builder.empty) this.builderSince = Date.now();
    if (table.definition.key !== null) this.builder.change(table.number, beforeKey, afterKey, after);
    // The key is the whole row.
    else this.builder.noKeyChange(table.number, this.transaction?.gtid ?? "", beforeKey === null ? null : Buffer.from(beforeKey, "latin1"), after === null ? null : Buffer.from(after));
    const { batchRows, batchBytes } = this.migration.spec.options;
    if (this.builder.changes >= batchRows * PART_FACTOR || this.builder.bytes >= batchBytes * PART_FACTOR) this.cut(this.position.toString(), { part: true });
  }

  /** The policy may ask the servers, so the reader waits for it. */
  private async decide(undecided: Undecided, signal: AbortSignal): Promise<void> {
    const { statement, transaction } = undecided;
    const scope = { context: this.context, ref: this.ref, spec: this.migration.spec, tables: this.tables, gtid: transaction.gtid };
    const decision = await this.options.policy.decide(statement, scope, signal);
    this.undecided = null;
    if (decision === "ignore") {
      if (undecided.committed) this.committed(transaction);
    } else {
      if (decision === "barrier") this.sendStatement(statement, transaction);
      this.ending = decision;
    }
    this.flow();
  }

  /** A barrier: what came before it is a batch of its own, and nothing after it is read until the target has executed it. */
  private sendStatement(statement: BinlogStatement, { gtid, committedAt }: TransactionStart): void {
    this.cut(this.position.toString());
    this.position.add(gtid);
    const payload = encodeBatch({ tables: [], statement: { ...statement, gtid, sql: statement.sql.toString("latin1"), sqlMode: String(statement.sqlMode) } });
    this.sender.send({ to: this.position.toString(), rows: 0, transactions: 1, sourceTime: committedAt, barrier: true }, payload);
  }

  private flow(): void {
    if (this.pressed || this.undecided !== null || this.ending !== null) this.stream?.pause();
    else this.stream?.resume();
  }

  /** Sends what was collected as a batch that ends at `to`. */
  private cut(to: string, kind: { part?: true } = {}): void {
    if (this.builder.empty && this.transactions === 0) return;
    const { batch, rows } = this.builder.take();
    this.sender.send({ to, rows, transactions: this.transactions, sourceTime: this.sourceTime, ...kind }, encodeBatch(batch));
    this.transactions = 0;
    this.builderSince = 0;
    this.quietSince = 0;
  }

  private tick(): number {
    // While the applier is idle a commit wakes the loop; otherwise it looks how far the applier came.
    return this.sender.full ? BACKLOG_POLL : this.sender.idle ? IDLE_TICK : BUSY_TICK;
  }

  private async onTick(signal: AbortSignal): Promise<void> {
    const now = Date.now();
    if (this.transaction === null && this.ending === null) {
      if (!this.builder.empty && now - this.builderSince >= this.patience()) this.cut(this.position.toString());
      // Transactions without rows of ours still move the position: the source may purge their binlogs.
      else if (this.builder.empty && this.transactions > 0 && now - this.quietSince >= QUIET_TIME) this.cut(this.position.toString());
      this.tables.passed(this.position);
    }
    if (!this.sender.idle) await this.sender.refresh();
    if (now - this.checkedAt < CHECK_INTERVAL) return;
    await this.checkStillDue(now, signal);
    if (this.sender.full && this.migration.phase === "copying") await this.startDraining(signal);
  }

  /**
   * How long changes may wait for more of their kind, in milliseconds: not at all while the applier is idle, `batchTime`
   * while it has one batch before it, and longer while it has more. Few large batches are much cheaper than many small ones.
   */
  private patience(): number {
    if (this.sender.idle) return 0;
    if (this.sender.queued <= 1) return this.migration.spec.options.batchTime;
    return Math.max(this.migration.spec.options.batchTime, BEHIND_BATCH_TIME);
  }

  /** Paused, stopped, or begun anew: then what this tail appends is void. */
  private async checkStillDue(now: number, signal: AbortSignal): Promise<void> {
    this.checkedAt = now;
    const { connections, state } = this.context;
    const [migration, fence] = await connections.use(this.ref.target, "target", signal, async (session) => [
      await state.migrations.read(session, this.ref.migration),
      await state.fence.read(session, this.ref.migration),
    ] as const);
    if (migration === null || fence === null || !isFollowing(migration)) {
      await this.options.chain.clear();
      this.ending = "not-due";
    } else if (fence.epoch !== this.epoch) {
      throw new DroverError("FENCE_MOVED", `the migration ${this.ref.migration} began a new epoch`);
    } else {
      // While tables are copied nothing waits for the chain, and one that starts over voids it anyway.
      if (migration.phase !== "copying") await this.sender.requireOurs();
      await this.forgetOldError(migration, now, signal);
    }
  }

  /**
   * Progress clears an error, and on a quiet source there is none. Whatever still fails is recorded again every few seconds;
   * an error that stays the same while this stream runs is over.
   */
  private async forgetOldError(migration: Migration, now: number, signal: AbortSignal): Promise<void> {
    const at = migration.error?.at ?? "";
    if (at !== this.shownError.at) this.shownError = { at, since: now };
    if (at === "" || !this.sender.idle || now - this.shownError.since < ERROR_LIFE) return;
    const { connections, state } = this.context;
    await connections.use(this.ref.target, "target", signal, (session) => state.migrations.recordProgress(session, this.ref.migration));
  }

  /** Design §4, step 5: the backlog reached its limit before the copy ended. */
  private async startDraining(signal: AbortSignal): Promise<void> {
    const { connections, state } = this.context;
    await connections.use(this.ref.target, "target", signal, (session) => state.fence.setDraining(session, this.ref.migration, true));
  }
}

interface Undecided {
  statement: BinlogStatement;
  transaction: TransactionStart;
  /** The transaction's end was read already. */
  committed: boolean;
}

/** Retries come more often than this (milliseconds). */
const ERROR_LIFE = 12_000;
/** How often the tail looks whether it is still wanted, in milliseconds. */
const CHECK_INTERVAL = 1_000;
/** The longest that a batch is filled while the applier is behind, or must wait for the copy; milliseconds. */
const BEHIND_BATCH_TIME = 2_000;
/** How long an unchanged chain may lie behind the stream's position, in milliseconds. */
const QUIET_TIME = 500;
