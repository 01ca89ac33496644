/** Schedules of diffs: remembered here, so that an emptied Redis loses none; the reconciler makes their job schedulers again. */
import { diffOptions, type DiffOptions, type DiffSchedule } from "../contracts/diff.js";
import { identifier, sql, type ByteSql } from "../mysql/bytes.js";
import type { Session, TextRecord } from "../mysql/session.js";
import { NOW, id, isoOf, json, numberOf, textOf } from "./values.js";

export interface ScheduleSettings {
  name: string;
  /** milliseconds */
  every: number;
  /** Finished diffs that are kept. */
  keep: number;
  options: DiffOptions;
}

export interface StoredSchedule extends ScheduleSettings {
  migration: string;
  /** The connection that the migration calls its target. */
  target: string;
  lastDiffId: string | null;
  /** Unix milliseconds of the latest turn; of its creation before the first. */
  lastAt: number;
  /** How long ago that was, by the server's clock, in milliseconds. */
  age: number;
  lastStartedAt: string | null;
}

export class DiffScheduleStore {
  private readonly table: ByteSql;

  constructor(schema: string) {
    this.table = `${identifier(schema)}.diff_schedules` as ByteSql;
  }

  /** Puts a schedule in the place of the one of that name; its latest turn is kept. */
  async put(session: Session, migration: string, target: string, settings: ScheduleSettings): Promise<void> {
    const values = sql`target=${id(target)}, every_ms=${settings.every}, keep_newest=${settings.keep}, options=${json(settings.options)}`;
    await session.run(sql`INSERT INTO ${this.table} SET migration=${id(migration)}, name=${id(settings.name)}, created_at=${NOW}, ${values} ON DUPLICATE KEY UPDATE ${values}`);
  }

  async read(session: Session, migration: string, name: string): Promise<StoredSchedule | null> {
    const [row] = await this.select(session, sql`WHERE migration=${id(migration)} AND name=${id(name)}`);
    return row ?? null;
  }

  async list(session: Session, migration: string): Promise<StoredSchedule[]> {
    return await this.select(session, sql`WHERE migration=${id(migration)} ORDER BY name`);
  }

  /** Of all migrations. */
  async all(session: Session): Promise<StoredSchedule[]> {
    return await this.select(session, sql`ORDER BY migration, name`);
  }

  /** Records a turn, unless another one was recorded since `before` was read. @returns whether it did */
  async recordTurn(session: Session, before: StoredSchedule, diff: string): Promise<boolean> {
    const last = before.lastDiffId === null ? (" IS NULL" as ByteSql) : sql`=${id(before.lastDiffId)}`;
    const done = await session.run(sql`UPDATE ${this.table} SET last_diff=${id(diff)}, last_at=${NOW} WHERE migration=${id(before.migration)} AND name=${id(before.name)} AND last_diff${last}`);
    return done.affectedRows === 1;
  }

  /** @returns whether there was one */
  async remove(session: Session, migration: string, name: string): Promise<boolean> {
    const done = await session.run(sql`DELETE FROM ${this.table} WHERE migration=${id(migration)} AND name=${id(name)}`);
    return done.affectedRows === 1;
  }

  private async select(session: Session, where: ByteSql): Promise<StoredSchedule[]> {
    const rows = await session.rows(sql`SELECT *, TIMESTAMPDIFF(MICROSECOND, COALESCE(last_at, created_at), ${NOW}) DIV 1000 AS age FROM ${this.table} ${where}`);
    return rows.map(scheduleOf);
  }
}

/** As people and programs see it. */
export function shownSchedule(schedule: StoredSchedule): DiffSchedule {
  const { migration, name, every, keep, options, lastDiffId, lastStartedAt, lastAt } = schedule;
  return { id: migration, name, every, keep, options, lastDiffId, lastStartedAt, nextAt: new Date(lastStartedAt === null ? lastAt : lastAt + every).toISOString() };
}

function scheduleOf(row: TextRecord): StoredSchedule {
  const age = numberOf(row, "age");
  return {
    migration: textOf(row, "migration"), name: textOf(row, "name"), target: textOf(row, "target"), every: numberOf(row, "every_ms"), keep: numberOf(row, "keep_newest"),
    options: diffOptions.parse(JSON.parse(textOf(row, "options"))), lastDiffId: row["last_diff"] ?? null, lastAt: Date.now() - age, age, lastStartedAt: isoOf(row, "last_at"),
  };
}
