/**
 * The migration spec: what a user writes (JSON or YAML), validated once at the edge into `MigrationSpec`,
 * which has no optionals left. Nothing behind this file checks a spec again.
 */
import { z } from "zod";
import { DroverError } from "../errors.js";
import { parseBytes, parseDuration } from "../units.js";
import { issueProblems, plainIssue, type KnownKeys } from "./issues.js";

const identifier = z.string().min(1).max(64);
const bytes = (fallback: string) => unit(parseBytes, "a size such as 8MiB", fallback);
const duration = (fallback: string) => unit(parseDuration, "a duration such as 500ms", fallback);

function unit(parse: (text: string) => number | undefined, what: string, fallback: string) {
  return z
    .union([z.string(), z.number().nonnegative()])
    .default(fallback)
    .transform((value, context) => {
      const parsed = typeof value === "number" ? Math.round(value) : parse(value);
      if (parsed !== undefined && parsed > 0) return parsed;
      context.addIssue({ code: "custom", message: `expected ${what}` });
      return z.NEVER;
    });
}

export const migrationId = z.string().regex(/^[a-z0-9_-]{1,64}$/, "expected 1 to 64 of a-z, 0-9, _ and -");
export const connectionName = z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, "expected a connection name such as SRC");

/** Tables of a schema by patterns. */
export const patternSelection = z
  .strictObject({ schema: identifier, include: z.array(identifier).min(1).default(["*"]), exclude: z.array(identifier).default([]), targetSchema: identifier.optional() })
  .transform((s) => ({ kind: "pattern" as const, schema: s.schema, include: s.include, exclude: s.exclude, targetSchema: s.targetSchema ?? s.schema }));

/** One table. */
export const tableSelection = z
  .strictObject({ schema: identifier, table: identifier, targetSchema: identifier.optional(), targetTable: identifier.optional(), where: z.string().min(1).optional(), allowNoKey: z.boolean().optional() })
  .transform((s) => ({
    kind: "table" as const, schema: s.schema, table: s.table,
    targetSchema: s.targetSchema ?? s.schema, targetTable: s.targetTable ?? s.table, where: s.where ?? null, allowNoKey: s.allowNoKey ?? false,
  }));

/** One entry of `tables`: the presence of the key `table` decides its form, so that an error speaks of one form only. */
export const selection = z.unknown().transform((value, context) => {
  const named = typeof value === "object" && value !== null && "table" in value;
  const result = named ? tableSelection.safeParse(value, { error: plainIssue }) : patternSelection.safeParse(value, { error: plainIssue });
  if (result.success) return result.data;
  // Without a `table` a key of the other form may have been meant.
  const known: KnownKeys = { known: [...new Set([...Object.keys(tableSelection.in.shape), ...(named ? [] : Object.keys(patternSelection.in.shape))])] };
  for (const issue of result.error.issues) context.addIssue({ ...issue, ...(issue.code === "unrecognized_keys" ? known : {}) } as Parameters<typeof context.addIssue>[0]);
  return z.NEVER;
});

const OBJECT_KINDS = ["views", "triggers", "routines", "events"] as const;

const migrationOptions = z.strictObject({
  chunkRows: z.number().int().min(1).max(1_000_000).default(10_000),
  chunkBytes: bytes("8MiB"),
  chunkTime: duration("500ms"),
  batchRows: z.number().int().min(1).max(1_000_000).default(5_000),
  batchBytes: bytes("8MiB"),
  batchTime: duration("100ms"),
  backlogBytes: bytes("256MiB"),
  copyConcurrency: z.number().int().min(1).max(256).default(4),
  /** As BullMQ's: 1 comes first. Among migrations that copy at the same time. */
  priority: z.number().int().min(1).max(10).default(5),
  existingTarget: z.enum(["fail", "resume", "replace"]).default("fail"),
  /** DDL of the source on followed tables: carried out on the target, a reason to stop, or passed over. */
  ddl: z.enum(["apply", "stop", "ignore"]).default("apply"),
  /** Of carried objects: as on the source, our own account on the target, or the account `user@host`. */
  definer: z.union([z.enum(["keep", "current"]), z.string().regex(/^[^@]+@[^@]+$/, "expected keep, current or user@host")]).default("keep"),
  /** Small tables without a usable row key are moved as a whole (see `selection/no-key.ts`). */
  allowNoKey: z.boolean().default(false),
});

/** Also what an earlier version accepted and is recorded. */
const recordedSpec = z
  .strictObject({
    id: migrationId,
    source: connectionName,
    target: connectionName,
    mode: z.enum(["copy", "follow", "copy+follow"]).default("copy+follow"),
    startPosition: z.string().optional(),
    tables: z.array(selection).min(1),
    /** What is carried beside tables: views and routines at the end of the copy, triggers and events at cut-over. */
    objects: z.array(z.enum(OBJECT_KINDS)).default([]),
    options: migrationOptions.prefault({}),
  })
  .transform((spec) => ({ ...spec, startPosition: spec.startPosition ?? null }));

export const migrationSpec = recordedSpec.superRefine((spec, context) => {
  if (spec.mode === "follow" && spec.startPosition === null)
    context.addIssue({ code: "custom", path: ["startPosition"], message: "mode follow needs a startPosition (a GTID set)" });
  if (spec.mode !== "follow" && spec.startPosition !== null)
    context.addIssue({ code: "custom", path: ["startPosition"], message: "startPosition goes with mode follow only" });
  // Two names of one server look like two connections here: workers compare the servers (`workers/planner/target-place.ts`).
  if (spec.source.toUpperCase() === spec.target.toUpperCase() && spec.tables.some((t) => t.schema === t.targetSchema && (t.kind === "pattern" || t.table === t.targetTable)))
    context.addIssue({ code: "custom", path: ["target"], message: "source and target are the same connection, and tables would go where they come from" });
});

/** A spec as the user may write it. */
export type MigrationSpecInput = z.input<typeof migrationSpec>;
/** A validated spec: every default filled in, sizes in bytes, times in milliseconds. */
export type MigrationSpec = z.output<typeof migrationSpec>;
export type MigrationOptions = MigrationSpec["options"];
export type TableSelection = MigrationSpec["tables"][number];

/**
 * Validates a spec.
 * @throws DroverError SPEC_INVALID that names every wrong key with its path
 */
export function parseMigrationSpec(input: unknown): MigrationSpec {
  return parseContract(migrationSpec, input, "the migration spec");
}

/** A spec as it was accepted once. What a version refuses since is refused where the migration is worked on, not where it is shown, stopped or removed. */
export function parseRecordedSpec(input: unknown): MigrationSpec {
  return parseContract(recordedSpec, input, "the recorded migration spec");
}

/** Runs a zod contract and turns its issues into one SPEC_INVALID error with all problems. */
export function parseContract<T extends z.ZodType>(contract: T, input: unknown, what: string): z.output<T> {
  const result = contract.safeParse(input, { error: plainIssue });
  if (result.success) return result.data;
  const problems = result.error.issues.flatMap((issue) => issueProblems(issue, contract, what));
  throw new DroverError("SPEC_INVALID", `${what} is not valid: ${problems.map((p) => p.message).join("; ")}`, { problems });
}
