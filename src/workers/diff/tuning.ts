/** The numbers that decide how a diff works; tests make them small. */
export interface DiffTuning {
  /** What one hash statement should take, in milliseconds: the longest that DDL on the source normally waits for us. */
  statementTime: number;
  /** After this time the source ends a statement, and the range is compared in parts, in milliseconds. */
  statementLimit: number;
  /** Rows of the first chunks of a table, before its speed is known. */
  firstRows: number;
  /** Bytes of them, and of parts that are compared row by row, as the server estimates the row size. */
  firstBytes: number;
  /** Most rows of a chunk. */
  maxRows: number;
  /** Most bytes of a chunk, as the server estimates the row size. */
  maxBytes: number;
  /** Most rows of each side that are compared row by row at once: bounds the memory. */
  leafRows: number;
  /** Chunk jobs in Redis at a time. */
  window: number;
  /** Pending chunks at which planning goes on. */
  planBelow: number;
  /** Pending chunks at which planning pauses. */
  planAhead: number;
  /** Candidates that are rechecked together. */
  recheckBatch: number;
  /** Rounds after which a row that keeps changing is inconclusive. */
  recheckRounds: number;
  /** How long the fence may stand still while the migration is at work before a recheck gives up, in milliseconds. */
  fencePatience: number;
  /** Differing rows that are stored per chunk; `maxSamples` when that is more. */
  storedRows: number;
  /** Different rows of a table without a key that are counted at most, on each side: bounds the memory. */
  wholeRows: number;
  /** How long a loaded source holds a chunk back at most, in milliseconds: a diff must not stand for ever. */
  loadPatience: number;
  /** Rows that one repair transaction writes at most. */
  repairRows: number;
}

export const DEFAULT_TUNING: DiffTuning = {
  statementTime: 300,
  statementLimit: 900,
  firstRows: 20_000,
  firstBytes: 16 * 1024 * 1024,
  maxRows: 500_000,
  maxBytes: 64 * 1024 * 1024,
  leafRows: 10_000,
  window: 32,
  planBelow: 64,
  planAhead: 256,
  recheckBatch: 1_000,
  recheckRounds: 14,
  fencePatience: 60_000,
  storedRows: 100,
  wholeRows: 200_000,
  loadPatience: 20_000,
  repairRows: 50,
};
