/** The diffs of a migration: options, state, latest error, repair. */
import { isDeepStrictEqual } from "node:util";
import { DroverError, errorRecord } from "../errors.js";
import { diffOptions, type DiffOptions, type DiffState, type REPAIR_STATES } from "../contracts/diff.js";
import type { StoredError } from "../contracts/status.js";
import { identifier, sql, type ByteSql } from "../mysql/bytes.js";
import type { Session, TextRecord } from "../mysql/session.js";
import { NOW, id, isoOf, json, numberOf, textOf } from "./values.js";

export type RepairState = (typeof REPAIR_STATES)[number];

/** Why a diff ends that a cut-over meets at work. */
export function cutOverMeanwhile(migration: string): DroverError {
  return new DroverError("ABORTED", `migration ${migration} was cut over while the diff was at work: what the application changes on the target since would be differences`);
}

export interface Diff {
  id: string;
  state: DiffState;
  options: DiffOptions;
  /** Started by a schedule: pruned when newer ones are finished. */
  scheduled: boolean;
  /** How often work had to be begun: 1, and one more for every error and every resume. */
  attempts: number;
  /** Failures of planning in a row, without progress in between. */
  planFailures: number;
  error: StoredError | null;
  /** `maxDuration` has passed. */
  overdue: boolean;
  repairState: RepairState | null;
  /** JSON of a `RepairReport`. */
  repair: string | null;
  progressAt: string;
  startedAt: string;
  completedAt: string | null;
}

export class DiffStore {
  private readonly table: ByteSql;

  constructor(schema: string) {
    this.table = `${identifier(schema)}.diffs` as ByteSql;
  }

  /**
   * The state of a diff that is there already with these options; null when there is none of that id.
   * @throws DroverError DIFF_CONFLICT when one with other options has the id
   */
  async known(session: Session, migration: string, diff: string, options: DiffOptions): Promise<DiffState | null> {
    const found = await this.read(session, migration, diff);
    if (found === null || isDeepStrictEqual(found.options, options)) return found?.state ?? null;
    throw new DroverError("DIFF_CONFLICT", `migration ${migration} has a diff "${diff}" with other options`, { cure: `choose another id, or forget the old one: \`drover diff delete ${migration} ${diff}\`` });
  }

  /** Records a new diff as `pending`; returns false when the id is there already. */
  async create(session: Session, migration: string, diff: string, options: DiffOptions, scheduled: boolean): Promise<boolean> {
    const done = await session.run(sql`INSERT IGNORE INTO ${this.table} (migration, diff, state, options, scheduled, deadline, progress_at, started_at)
      VALUES (${id(migration)}, ${id(diff)}, 'pending', ${json(options)}, ${scheduled ? 1 : 0}, ${deadline(options)}, ${NOW}, ${NOW})`);
    return done.affectedRows === 1;
  }

  async read(session: Session, migration: string, diff: string): Promise<Diff | null> {
    const [row] = await session.rows(sql`SELECT *, ${OVERDUE} FROM ${this.table} WHERE ${this.one(migration, diff)}`);
    return row ? diffOf(row) : null;
  }

  /** @throws DroverError NOT_FOUND */
  async require(session: Session, migration: string, diff: string): Promise<Diff> {
    const found = await this.read(session, migration, diff);
    if (!found) throw new DroverError("NOT_FOUND", `migration ${migration} has no diff "${diff}"`, { cure: "`drover diff list` names them" });
    return found;
  }

  /** Newest first. @param state only those in this state */
  async list(session: Session, migration: string, limit: number, state: DiffState | null = null): Promise<Diff[]> {
    const wanted = state === null ? ("" as ByteSql) : sql` AND state=${id(state)}`;
    return (await session.rows(sql`SELECT *, ${OVERDUE} FROM ${this.table} WHERE migration=${id(migration)}${wanted} ORDER BY started_at DESC, diff DESC LIMIT ${limit}`)).map(diffOf);
  }

  /** Diffs of all migrations that need work: not ended, or with a repair that has not ended. */
  async unfinished(session: Session): Promise<{ migration: string; diff: string }[]> {
    const rows = await session.rows(sql`SELECT migration, diff FROM ${this.table} WHERE state IN ('pending','running') OR repair_state IN ('pending','running') ORDER BY started_at`);
    return rows.map((row) => ({ migration: textOf(row, "migration"), diff: textOf(row, "diff") }));
  }

  /** Changes the state if it is one of `from`; returns whether it did. */
  async changeState(session: Session, migration: string, diff: string, from: readonly DiffState[], to: DiffState): Promise<boolean> {
    const list = from.map((state) => `'${state}'`).join(",") as ByteSql;
    const ended = to === "completed" || to === "failed" ? NOW : ("NULL" as ByteSql);
    const done = await session.run(sql`UPDATE ${this.table} SET state=${id(to)}, completed_at=${ended}, progress_at=${NOW} WHERE ${this.one(migration, diff)} AND state IN (${list})`);
    return done.affectedRows === 1;
  }

  /** Takes up a stopped or failed diff: a new attempt, with its `maxDuration` from now. */
  async resume(session: Session, migration: string, diff: string, options: DiffOptions, to: "pending" | "running"): Promise<boolean> {
    const done = await session.run(sql`UPDATE ${this.table} SET state=${id(to)}, attempts=attempts+1, plan_failures=0, deadline=${deadline(options)}, completed_at=NULL, progress_at=${NOW}
      WHERE ${this.one(migration, diff)} AND state IN ('stopped','failed')`);
    return done.affectedRows === 1;
  }

  /**
   * Records an error of work that goes on; it counts one attempt more. It may come after the diff was completed by others; a
   * diff that was stopped or failed keeps the error that it ended with.
   * @param planning whether the failure was one of planning, which has its own limit
   */
  async recordError(session: Session, migration: string, diff: string, thrown: unknown, planning: boolean): Promise<void> {
    const before = await this.read(session, migration, diff);
    if (before === null) return;
    await session.run(sql`UPDATE ${this.table} SET error=${json(storedError(thrown, before.error))}, attempts=attempts+1, plan_failures=plan_failures+${planning ? 1 : 0}
      WHERE ${this.one(migration, diff)} AND state IN ('pending','running','completed')`);
  }

  /** Ends a diff with an error. */
  async end(session: Session, migration: string, diff: string, to: "failed" | "stopped", thrown: unknown): Promise<void> {
    const before = await this.read(session, migration, diff);
    if (before === null) return;
    const ended = to === "failed" ? NOW : ("NULL" as ByteSql);
    await session.run(sql`UPDATE ${this.table} SET state=${id(to)}, completed_at=${ended}, error=${json(storedError(thrown, before.error))} WHERE ${this.one(migration, diff)} AND state IN ('pending','running')`);
  }

  /** All of a migration, so that none of them ends before the caller's transaction does. */
  async lockAll(session: Session, migration: string): Promise<{ diff: string; state: DiffState }[]> {
    const rows = await session.rows(sql`SELECT diff, state FROM ${this.table} WHERE migration=${id(migration)} ORDER BY diff FOR UPDATE`);
    return rows.map((row) => ({ diff: textOf(row, "diff"), state: textOf(row, "state") as DiffState }));
  }

  async lock(session: Session, migration: string, diff: string): Promise<void> {
    await session.rows(sql`SELECT diff FROM ${this.table} WHERE ${this.one(migration, diff)} FOR UPDATE`);
  }

  /** Stops what is at work, of one migration. @returns their ids */
  async stopAll(session: Session, migration: string, reason: DroverError): Promise<string[]> {
    const rows = await session.rows(sql`SELECT diff FROM ${this.table} WHERE migration=${id(migration)} AND state IN ('pending','running') ORDER BY started_at FOR UPDATE`);
    const ids = rows.map((row) => textOf(row, "diff"));
    for (const diff of ids) await this.end(session, migration, diff, "stopped", reason);
    return ids;
  }

  /** Planning moved on: its failures are over. */
  async recordPlanProgress(session: Session, migration: string, diff: string): Promise<void> {
    await session.run(sql`UPDATE ${this.table} SET plan_failures=0, progress_at=${NOW} WHERE ${this.one(migration, diff)}`);
  }

  /** Asks for a repair, in the place of an earlier one. */
  async requestRepair(session: Session, migration: string, diff: string, report: unknown): Promise<void> {
    await session.run(sql`UPDATE ${this.table} SET repair_state='pending', repair=${json(report)} WHERE ${this.one(migration, diff)}`);
  }

  /** Records how far a repair is; one that was stopped stays so. */
  async recordRepair(session: Session, migration: string, diff: string, state: RepairState, report: unknown): Promise<void> {
    await session.run(sql`UPDATE ${this.table} SET repair=${json(report)}, repair_state=${id(state)} WHERE ${this.one(migration, diff)} AND repair_state IN ('pending','running')`);
  }

  /** Finished diffs of the schedule, oldest first, without the newest `keep`. Their ids are its name, `-` and fourteen digits. */
  async outdated(session: Session, migration: string, schedule: string, keep: number): Promise<string[]> {
    const rows = await session.rows(sql`SELECT diff FROM ${this.table} WHERE migration=${id(migration)} AND scheduled=1 AND LEFT(diff, CHAR_LENGTH(diff) - 15)=${id(schedule)} AND state IN ('completed','failed','stopped')
      ORDER BY started_at DESC, diff DESC LIMIT 1000 OFFSET ${keep}`);
    return rows.map((row) => textOf(row, "diff")).reverse();
  }

  async remove(session: Session, migration: string, diff: string): Promise<void> {
    await session.run(sql`DELETE FROM ${this.table} WHERE ${this.one(migration, diff)}`);
  }

  private one(migration: string, diff: string): ByteSql {
    return sql`migration=${id(migration)} AND diff=${id(diff)}`;
  }
}

const OVERDUE = sql`COALESCE(deadline < ${NOW}, 0) AS overdue`;

function deadline(options: DiffOptions): ByteSql {
  return options.maxDuration === null ? ("NULL" as ByteSql) : sql`${NOW} + INTERVAL ${options.maxDuration * 1000} MICROSECOND`;
}

function storedError(thrown: unknown, before: StoredError | null): StoredError {
  const record = errorRecord(thrown);
  const again = before !== null && before.code === record.code && before.errno === record.errno;
  return { ...record, at: new Date().toISOString(), retries: again ? before.retries + 1 : 1 };
}

function diffOf(row: TextRecord): Diff {
  return {
    id: textOf(row, "diff"),
    state: textOf(row, "state") as DiffState,
    options: diffOptions.parse(JSON.parse(textOf(row, "options"))),
    scheduled: row["scheduled"] === "1",
    attempts: numberOf(row, "attempts"),
    planFailures: numberOf(row, "plan_failures"),
    error: row["error"] == null ? null : (JSON.parse(row["error"]) as StoredError),
    overdue: row["overdue"] === "1",
    repairState: (row["repair_state"] ?? null) as RepairState | null,
    repair: row["repair"] ?? null,
    progressAt: isoOf(row, "progress_at") ?? "",
    startedAt: isoOf(row, "started_at") ?? "",
    completedAt: isoOf(row, "completed_at"),
  };
}
