/**
 * Small migrations that have just begun: while there are any, larger ones make room. The workers share the CPU, the servers and the queues;
 * what a large migration reads and writes meanwhile would cost a small one several times what it needs itself.
 */
import { identifier, sql, type ByteSql } from "../mysql/bytes.js";
import type { Session } from "../mysql/session.js";
import { NOW, id, textOf } from "./values.js";

/** Of more rows than this, by the server's estimate, a migration is no small one. */
const SMALL_ROWS = 20_000;
/** Nor after so many chunks: then the estimate was wrong. */
const SMALL_CHUNKS = 4;
/** A migration that begins is waited for this long (seconds); one that cannot begin holds up nobody. */
const BEGINNING = 20;
/** A migration that makes room still moves on at this pace (seconds), however many others begin. */
const PACE = 5;

export class BeginnerStore {
  private readonly schema: ByteSql;

  constructor(schema: string) {
    this.schema = identifier(schema);
  }

  /**
   * How many chunks this migration may have outstanding now, of the `most` that it is allowed: fewer when it is not small itself and another one of
   * its priority or a better one is planning, or copies its first few chunks. Then none, and one every now and then.
   */
  async room(session: Session, migration: string, most: number): Promise<number> {
    const { schema } = this;
    // Asked for every chunk, and mostly there is nobody: how much there is to copy is counted only where there is.
    const begun = await session.rows(sql`SELECT other.id, other.phase FROM ${schema}.migrations AS own JOIN ${schema}.migrations AS other
      ON other.id<>own.id AND other.phase IN ('planning','copying') AND other.started_at > ${NOW} - INTERVAL ${BEGINNING} SECOND AND ${priority("other")} <= ${priority("own")}
      WHERE own.id=${id(migration)}`);
    if (begun.length === 0 || (await this.isSmall(session, migration))) return most;
    // One that is planning may be any size: nobody knows yet.
    let beginner = begun.some((other) => other["phase"] === "planning");
    for (const other of begun) beginner ||= await this.isSmall(session, textOf(other, "id"));
    if (!beginner) return most;
    const [latest] = await session.rows(sql`SELECT 1 AS moved FROM (SELECT done_at FROM ${schema}.chunks WHERE migration=${id(migration)} AND state='done' ORDER BY table_number DESC, number DESC LIMIT 16) AS newest
      WHERE done_at > ${NOW} - INTERVAL ${PACE} SECOND LIMIT 1`);
    return latest === undefined ? 1 : 0;
  }

  private async isSmall(session: Session, migration: string): Promise<boolean> {
    const { schema } = this;
    const [row] = await session.rows(sql`SELECT (SELECT COALESCE(SUM(rows_estimated), 0) FROM ${schema}.tables WHERE migration=${id(migration)}) <= ${SMALL_ROWS}
      AND (SELECT COUNT(*) FROM (SELECT 1 FROM ${schema}.chunks WHERE migration=${id(migration)} AND state='done' LIMIT ${SMALL_CHUNKS}) AS done) < ${SMALL_CHUNKS} AS small`);
    return row?.["small"] === "1";
  }
}

/** Of the spec as it was written; the default is that of `contracts/spec.ts`. Literals of these sessions are binary, which JSON functions refuse (3144). */
function priority(of: string): ByteSql {
  return `CAST(COALESCE(JSON_UNQUOTE(JSON_EXTRACT(${of}.spec, _utf8mb4'$.options.priority')), _utf8mb4'5') AS SIGNED)` as ByteSql;
}
