/** What `diff` takes and prints: contract §Diff. */
import { z } from "zod";
import type { StoredError } from "./status.js";

export const DIFF_STATES = ["pending", "running", "stopped", "completed", "failed"] as const;
export type DiffState = (typeof DIFF_STATES)[number];

export const diffId = z.string().regex(/^[a-z0-9_-]{1,64}$/, "expected 1 to 64 of a-z, 0-9, _ and -");

export const diffOptions = z.strictObject({
  /** `schema.table` names of the source; empty means all of the migration. */
  tables: z.array(z.string()).default([]),
  where: z.string().min(1).nullable().default(null),
  maxSamples: z.number().int().min(0).max(10_000).default(10),
  maxRows: z.number().int().min(1).nullable().default(null),
  /** milliseconds */
  maxDuration: z.number().int().min(1).nullable().default(null),
  onlyKeys: z.boolean().default(false),
  maxAttempts: z.number().int().min(1).default(20),
});
export type DiffOptions = z.output<typeof diffOptions>;
export type DiffOptionsInput = z.input<typeof diffOptions>;

export interface DiffSample {
  kind: "mismatched" | "missingOnTarget" | "extraOnTarget" | "inconclusive";
  key: Record<string, string>;
  columns: string[];
  /** Only with `--show-values`. */
  values?: { source: Record<string, string | null> | null; target: Record<string, string | null> | null };
}

export interface DiffTableReport {
  source: string;
  target: string;
  state: DiffState;
  rowsCompared: number;
  matching: number;
  mismatched: number;
  missingOnTarget: number;
  extraOnTarget: number;
  inconclusive: number;
  samples: DiffSample[];
  /** Exceptions of the comparison by bytes that concern this table's columns. */
  notes?: string[];
}

export interface DiffReport {
  id: string;
  diffId: string;
  state: DiffState;
  hasMismatch: boolean;
  tables: DiffTableReport[];
  attempts: number;
  lastError: StoredError | null;
  startedAt: string;
  completedAt: string | null;
  progress: { percent: number; etaSeconds: number | null };
}
