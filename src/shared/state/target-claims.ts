/** Which migration writes which target table: one at a time. What is recorded in `tables` is the claim; here it is looked at, and made under a lock. */
import type { TableName } from "../columns/table-definition.js";
import { DroverError } from "../errors.js";
import { identifier, sql, type ByteSql } from "../mysql/bytes.js";
import type { Session } from "../mysql/session.js";
import { ignoresCase } from "../selection/source-tables.js";
import { id, textOf } from "./values.js";

/** Target tables that other migrations write, or may write again. */
export interface TakenTargets {
  /** The id of the migration that does; null when the table is free. */
  owner(target: TableName): string | null;
}

export class TargetClaims {
  private readonly schema: ByteSql;

  constructor(schema: string) {
    this.schema = identifier(schema);
  }

  async taken(session: Session, migration: string): Promise<TakenTargets> {
    const key = await targetKeys(session);
    const rows = await session.rows(sql`SELECT t.target_schema, t.target_table, t.migration FROM ${this.schema}.tables AS t JOIN ${this.schema}.migrations AS m ON m.id=t.migration
      WHERE m.id<>${id(migration)} AND m.phase NOT IN ('stopped','completed')`);
    const owners = new Map(rows.map((row) => [key({ schema: textOf(row, "target_schema"), table: textOf(row, "target_table") }), textOf(row, "migration")]));
    return { owner: (target) => owners.get(key(target)) ?? null };
  }

  /**
   * The targets are this migration's when the caller's transaction, which records them, commits: until then nobody else looks.
   * Behind the fence's lock, never before it: all take the two in this order.
   * @throws DroverError PREFLIGHT_FAILED when another migration writes one of them
   */
  async claim(session: Session, migration: string, targets: readonly TableName[]): Promise<void> {
    await session.rows(sql`SELECT version FROM ${this.schema}.meta FOR UPDATE`);
    await this.requireFree(session, migration, targets);
  }

  /**
   * As `requireFree`, and until the caller's transaction ends nobody else claims them: for one that has ended, whose tables others may have.
   * Behind the fence's lock, as `claim`.
   */
  async keepFree(session: Session, migration: string, targets: readonly TableName[]): Promise<void> {
    await session.rows(sql`SELECT version FROM ${this.schema}.meta LOCK IN SHARE MODE`);
    await this.requireFree(session, migration, targets);
  }

  /** @throws DroverError PREFLIGHT_FAILED when another migration writes one of them, or two are one table to the server */
  async requireFree(session: Session, migration: string, targets: readonly TableName[]): Promise<void> {
    const taken = await this.taken(session, migration);
    const key = await targetKeys(session);
    const own = new Set<string>();
    for (const target of targets) {
      const owner = taken.owner(target);
      if (owner !== null)
        throw new DroverError("PREFLIGHT_FAILED", `the target table ${target.schema}.${target.table} is written by the migration "${owner}"`, { cure: `stop ${owner} first, or give the table another target name` });
      if (own.has(key(target)))
        throw new DroverError("PREFLIGHT_FAILED", `${session.server} does not tell names by case, and two tables have the target ${target.schema}.${target.table}`, { cure: "give one of them another target name" });
      own.add(key(target));
    }
  }
}

/** One text per table, as the target's server tells names. */
async function targetKeys(session: Session): Promise<(target: TableName) => string> {
  const ignoreCase = await ignoresCase(session);
  return ({ schema, table }) => (ignoreCase ? JSON.stringify([schema, table]).toLowerCase() : JSON.stringify([schema, table]));
}
