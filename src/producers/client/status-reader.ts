/** Puts a migration's status together: the state schema on the target, the source's position, the backlog in Redis. */
import { sleep, within } from "../../shared/abort.js";
import type { BacklogSize } from "../../shared/backlog/chain.js";
import type { MigrationStatus, TableStatus } from "../../shared/contracts/status.js";
import { DroverError } from "../../shared/errors.js";
import type { ByteSql } from "../../shared/mysql/bytes.js";
import type { Connections } from "../../shared/mysql/connections.js";
import { positionCovers } from "../../shared/mysql/position.js";
import type { Fence } from "../../shared/state/fence.js";
import type { Migration } from "../../shared/state/migrations.js";
import type { State } from "../../shared/state/state.js";
import { isoOf, NOW } from "../../shared/state/values.js";
import type { FoundMigration } from "./migration-finder.js";
import type { SourcePositions } from "./source-positions.js";
import { startWaits } from "./waiting-status.js";
import { applyRate, etaSeconds, isStuck, lagSeconds, stuckReason, tableStatus } from "./status-figures.js";

/** How long the target may take to answer, in milliseconds. */
const PATIENCE = 10_000;
/** Until the second look at a fence that seems to stand still, in milliseconds. */
const SECOND_LOOK = 1_000;

/** What the state schema says. */
interface Recorded {
  migration: Migration;
  fence: Fence | null;
  tables: TableStatus[];
  copyRate: number;
  bytesCopied: number;
  /** The target's clock. */
  now: number;
}

export interface StatusReaderOptions {
  connections: Connections;
  state: State;
  sources: SourcePositions;
  /** @throws DroverError REDIS_UNAVAILABLE */
  backlog: (migration: string) => Promise<BacklogSize>;
  /** Whether any worker is there; asked only when nothing moves. */
  workerPresent: () => Promise<boolean>;
}

export class StatusReader {
  private readonly connections: Connections;
  private readonly state: State;
  private readonly sources: SourcePositions;
  private readonly backlog: StatusReaderOptions["backlog"];
  private readonly workerPresent: StatusReaderOptions["workerPresent"];

  constructor(options: StatusReaderOptions) {
    this.connections = options.connections;
    this.state = options.state;
    this.sources = options.sources;
    this.backlog = options.backlog;
    this.workerPresent = options.workerPresent;
  }

  /** @throws DroverError CONNECTION_LOST (the target), NOT_FOUND (removed meanwhile), ABORTED */
  async read(found: FoundMigration, signal: AbortSignal): Promise<MigrationStatus> {
    const id = found.migration.id;
    const [recorded, source, backlog] = await Promise.all([
      this.recorded(found, signal),
      this.sources.read(found.migration.spec.source, signal),
      this.backlog(id).catch((error: unknown) => asDroverError(error)),
    ]);
    const { migration, fence, now } = recorded;
    return {
      id,
      phase: migration.phase,
      tables: recorded.tables,
      position: { applied: fence?.position ?? "", source },
      lagSeconds: lagSeconds(migration.phase, fence, source, now),
      backlog: backlog instanceof DroverError ? { batches: 0, bytes: 0 } : backlog,
      rates: { copyRowsPerSecond: Math.round(recorded.copyRate), applyRowsPerSecond: applyRate(fence, now) },
      totals: {
        rowsCopied: recorded.tables.reduce((sum, t) => sum + t.rowsCopied, 0), bytesCopied: recorded.bytesCopied,
        rowsApplied: fence?.appliedRows ?? 0, transactionsApplied: fence?.appliedTransactions ?? 0, batchesApplied: fence?.seq ?? 0,
      },
      fenceAgeSeconds: fence === null ? null : Math.max(0, Math.round((now - Date.parse(fence.updatedAt)) / 100) / 10),
      etaSeconds: etaSeconds(migration, recorded.tables, recorded.copyRate),
      error: migration.error,
      stuck: await this.stuck(found, recorded, source, backlog instanceof DroverError ? backlog : null, signal),
      startedAt: migration.startedAt,
      updatedAt: migration.updatedAt,
    };
  }

  private async stuck(found: FoundMigration, { migration, fence, now }: Recorded, source: string | null, redis: DroverError | null, signal: AbortSignal): Promise<MigrationStatus["stuck"]> {
    if (migration.phase === "planning" && fence === null && migration.error === null && redis === null && !(await this.workerPresent())) return startWaits(migration.startedAt);
    const caughtUp = fence !== null && source !== null && positionCovers(fence.position, source);
    if (!isStuck(migration, caughtUp, now)) return null;
    // After a quiet time the first transaction looks like this too, for the moment until it is applied.
    if (migration.phase === "streaming" && fence !== null && (await this.moves(found, fence.position, signal))) return null;
    const workerPresent = redis === null && migration.error === null && (await this.workerPresent());
    // A worker cannot record there that it cannot write there.
    const readOnly = redis === null && migration.error === null && (await this.readOnly(found, signal));
    return { since: migration.progressAt, reason: readOnly ? `SERVER_UNAVAILABLE: ${found.target} is read-only` : stuckReason(migration, redis, workerPresent) };
  }

  private async readOnly(found: FoundMigration, signal: AbortSignal): Promise<boolean> {
    const [row] = await this.connections.use(found.target, "target", signal, (session) => session.rows("SELECT @@GLOBAL.read_only AS on_" as ByteSql));
    return row?.["on_"] === "1";
  }

  /** Whether the fence leaves `position` within a moment. */
  private async moves(found: FoundMigration, position: string, signal: AbortSignal): Promise<boolean> {
    await sleep(SECOND_LOOK, signal);
    const fence = await this.connections.use(found.target, "target", signal, (session) => this.state.fence.read(session, found.migration.id));
    return fence !== null && fence.position !== position;
  }

  private async recorded(found: FoundMigration, signal: AbortSignal): Promise<Recorded> {
    const { state } = this;
    const id = found.migration.id;
    return await within(PATIENCE, signal, (limited, isLate) =>
      this.connections.use(found.target, "target", limited, async (session) => {
        const migration = await state.migrations.require(session, id);
        const tables = await state.tables.progress(session, id);
        const totals = new Map((await state.chunks.totals(session, id)).map((t) => [t.table, t]));
        const fence = await state.fence.read(session, id);
        const copyRate = migration.phase === "copying" ? await state.chunks.rate(session, id) : 0;
        const [clock] = await session.rows(`SELECT ${NOW} AS now` as ByteSql);
        // The target's clock wrote all the times that are compared with it.
        const now = Date.parse((clock && isoOf(clock, "now")) ?? "");
        const bytesCopied = [...totals.values()].reduce((sum, t) => sum + t.bytes, 0);
        return { migration, fence, copyRate, bytesCopied, now, tables: tables.map((table) => tableStatus(table, totals.get(table.number))) };
      }).catch((error: unknown) => {
        if (isLate()) throw new DroverError("CONNECTION_LOST", `${found.target}: no answer within ${PATIENCE / 1000} s`, { cause: error });
        throw error;
      }),
    );
  }
}

function asDroverError(error: unknown): DroverError {
  return error instanceof DroverError ? error : new DroverError("REDIS_UNAVAILABLE", error instanceof Error ? error.message : String(error));
}
