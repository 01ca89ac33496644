/** The migrations of a state schema: spec, phase, error. */
import { DroverError, errorRecord } from "../errors.js";
import { parseRecordedSpec, type MigrationSpec } from "../contracts/spec.js";
import type { Phase, StoredError } from "../contracts/status.js";
import { identifier, sql, type ByteSql } from "../mysql/bytes.js";
import type { Session, TextRecord } from "../mysql/session.js";
import { NOW, id, isoOf, json, numberOf, text, textOf } from "./values.js";

/** Phases in which work is due. */
export type WorkingPhase = Extract<Phase, "planning" | "copying" | "catching-up" | "streaming">;
export const WORKING_PHASES: readonly Phase[] = ["planning", "copying", "catching-up", "streaming"];

export interface Migration {
  id: string;
  spec: MigrationSpec;
  phase: Phase;
  /** Where `resume` goes on. */
  resumePhase: WorkingPhase;
  /** A position that the source had some time ago, and how long ago that was by the target's clock (milliseconds). */
  catchUp: { position: string; age: number } | null;
  error: StoredError | null;
  progressAt: string;
  startedAt: string;
  copiedAt: string | null;
  updatedAt: string;
}

const CATCH_UP_AGE = `TIMESTAMPDIFF(MICROSECOND, catch_up_at, ${NOW}) / 1000 AS catch_up_age` as ByteSql;

export class MigrationStore {
  private readonly table: ByteSql;

  constructor(schema: string) {
    this.table = `${identifier(schema)}.migrations` as ByteSql;
  }

  /** Records a new migration; returns false when the id is there already. */
  async create(session: Session, specInput: unknown, spec: MigrationSpec): Promise<boolean> {
    const done = await session.run(sql`INSERT IGNORE INTO ${this.table} (id, spec, source, phase, progress_at, started_at, updated_at)
      VALUES (${id(spec.id)}, ${json(specInput)}, ${text(spec.source)}, 'planning', ${NOW}, ${NOW}, ${NOW})`);
    return done.affectedRows === 1;
  }

  async read(session: Session, migration: string): Promise<Migration | null> {
    const [row] = await session.rows(sql`SELECT *, ${CATCH_UP_AGE} FROM ${this.table} WHERE id=${id(migration)}`);
    return row ? migrationOf(row) : null;
  }

  /** @throws DroverError NOT_FOUND */
  async require(session: Session, migration: string): Promise<Migration> {
    const found = await this.read(session, migration);
    if (!found) throw new DroverError("NOT_FOUND", `there is no migration "${migration}"`, { cure: "`drover status` lists them" });
    return found;
  }

  async list(session: Session): Promise<Migration[]> {
    return (await session.rows(sql`SELECT *, ${CATCH_UP_AGE} FROM ${this.table} ORDER BY started_at, id`)).map(migrationOf);
  }

  /** Changes the phase if it is one of `from`; returns whether it did, so that of two workers only one moves it. */
  async changePhase(session: Session, migration: string, from: readonly Phase[], to: Phase): Promise<boolean> {
    const list = from.map((phase) => `'${phase}'`).join(",") as ByteSql;
    const remember = (WORKING_PHASES.includes(to) ? sql`, resume_phase=${id(to)}` : "") as ByteSql;
    const copied = (to === "catching-up" || to === "completed" ? `, copied_at=COALESCE(copied_at, ${NOW})` : "") as ByteSql;
    const done = await session.run(sql`UPDATE ${this.table} SET phase=${id(to)}${remember}${copied}, progress_at=${NOW}, updated_at=${NOW} WHERE id=${id(migration)} AND phase IN (${list})`);
    return done.affectedRows === 1;
  }

  async setCatchUp(session: Session, migration: string, position: string): Promise<void> {
    await session.run(sql`UPDATE ${this.table} SET catch_up_position=${text(position)}, catch_up_at=${NOW} WHERE id=${id(migration)}`);
  }

  /** Records an error; a second one in a row counts up `retries`. The cause of an ended migration stays what it was. */
  async recordError(session: Session, migration: string, thrown: unknown): Promise<void> {
    const before = await this.read(session, migration);
    const stored: StoredError = { ...errorRecord(thrown), at: new Date().toISOString(), retries: (before?.error?.retries ?? 0) + 1 };
    await session.run(sql`UPDATE ${this.table} SET error=${json(stored)}, updated_at=${NOW} WHERE id=${id(migration)} AND phase NOT IN ('failed','stopped','completed')`);
  }

  /** Work moved on: the time of progress, and the error is over. */
  async recordProgress(session: Session, migration: string): Promise<void> {
    await session.run(sql`UPDATE ${this.table} SET error=NULL, progress_at=${NOW}, updated_at=${NOW} WHERE id=${id(migration)}
      AND (error IS NOT NULL OR progress_at < ${NOW} - INTERVAL 1 SECOND) AND phase NOT IN ('failed')`);
  }

  async clearError(session: Session, migration: string): Promise<void> {
    await session.run(sql`UPDATE ${this.table} SET error=NULL, progress_at=${NOW}, updated_at=${NOW} WHERE id=${id(migration)}`);
  }

  async remove(session: Session, migration: string): Promise<void> {
    await session.run(sql`DELETE FROM ${this.table} WHERE id=${id(migration)}`);
  }
}

function migrationOf(row: TextRecord): Migration {
  return {
    id: textOf(row, "id"),
    spec: parseRecordedSpec(JSON.parse(textOf(row, "spec"))),
    phase: textOf(row, "phase") as Phase,
    resumePhase: textOf(row, "resume_phase") as WorkingPhase,
    catchUp: row["catch_up_age"] == null ? null : { position: textOf(row, "catch_up_position"), age: numberOf(row, "catch_up_age") },
    error: row["error"] == null ? null : (JSON.parse(row["error"]) as StoredError),
    progressAt: isoOf(row, "progress_at") ?? "",
    startedAt: isoOf(row, "started_at") ?? "",
    copiedAt: isoOf(row, "copied_at"),
    updatedAt: isoOf(row, "updated_at") ?? "",
  };
}
