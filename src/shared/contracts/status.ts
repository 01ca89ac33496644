/** What `status` prints: contract §Status. */
import { z } from "zod";

export const PHASES = ["planning", "copying", "catching-up", "streaming", "completed", "paused", "stopped", "failed"] as const;
export type Phase = (typeof PHASES)[number];

const count = z.number().int().nonnegative();
/** ISO 8601, UTC. */
export const timestamp = z.string();

/** An error as it is recorded: bounded, without SQL text and without row values. */
export const errorRecordContract = z.object({ code: z.string(), errno: z.number().int().nullable(), sqlState: z.string().nullable(), message: z.string() });

export const storedError = z.object({
  ...errorRecordContract.shape,
  at: timestamp.describe("ISO time of the latest occurrence"),
  retries: count.describe("how often in a row, without progress in between"),
});
export type StoredError = z.output<typeof storedError>;

export const tableStatus = z.object({
  source: z.string().describe("schema.table"),
  target: z.string().describe("schema.table"),
  phase: z.enum(["planning", "copying", "indexing", "copied"]),
  rowsCopied: count,
  rowsEstimated: count,
  chunksDone: count,
  chunksTotal: count,
});
export type TableStatus = z.output<typeof tableStatus>;

export const migrationStatus = z.object({
  id: z.string(),
  phase: z.enum(PHASES),
  tables: z.array(tableStatus),
  position: z.object({ applied: z.string(), source: z.string().nullable().describe("null when the source does not answer") }).describe("GTID sets"),
  lagSeconds: z.number().nullable(),
  backlog: z.object({ batches: count, bytes: count }).describe("read from the binlog, not applied yet"),
  rates: z.object({ copyRowsPerSecond: z.number(), applyRowsPerSecond: z.number() }),
  totals: z
    .object({ rowsCopied: count, bytesCopied: count, rowsApplied: count, transactionsApplied: count, batchesApplied: count })
    .describe("since the start: finished chunks, and what has been applied of the binlog"),
  fenceAgeSeconds: z.number().nullable().describe("since a batch was applied, or work began anew"),
  etaSeconds: z.number().nullable().describe("until the copy is done"),
  error: storedError.nullable().describe("also filled while Drover tries again"),
  stuck: z.object({ since: timestamp, reason: z.string() }).nullable().describe("since when and why nothing has moved, when work is due; null while it moves"),
  startedAt: timestamp,
  updatedAt: timestamp,
});
export type MigrationStatus = z.output<typeof migrationStatus>;
