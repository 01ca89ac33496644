/**
 * Small migrations that have just begun: while there are any, larger ones make room. The workers share the CPU, the servers and the queues;
 * what a large migration reads and writes meanwhile would cost a small one several times what it needs itself.
 */
import { identifier, sql, type ByteSql } from "../mysql/bytes.js";
import type { Session } from "../mysql/session.js";
import { NOW, id } from "./values.js";

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
    const small = (of: ByteSql) => sql`((SELECT COALESCE(SUM(t.rows_estimated), 0) FROM ${schema}.tables AS t WHERE t.migration=${of}) <= ${SMALL_ROWS}
      AND (SELECT COUNT(*) FROM ${schema}.chunks AS c WHERE c.migration=${of} AND c.state='done') < ${SMALL_CHUNKS})`;
    // One that is planning may be any size: nobody knows yet.
    const [beginner] = await session.rows(sql`SELECT own.progress_at > ${NOW} - INTERVAL ${PACE} SECOND AS moved FROM ${schema}.migrations AS own
      WHERE own.id=${id(migration)} AND NOT ${small("own.id" as ByteSql)} AND EXISTS(SELECT 1 FROM ${schema}.migrations AS other
        WHERE other.id<>own.id AND other.phase IN ('planning','copying') AND other.started_at > ${NOW} - INTERVAL ${BEGINNING} SECOND
          AND ${priority("other")} <= ${priority("own")} AND (other.phase='planning' OR ${small("other.id" as ByteSql)}))`);
    if (beginner === undefined) return most;
    return beginner["moved"] === "1" ? 0 : 1;
  }
}

/** Of the spec as it was written; the default is that of `contracts/spec.ts`. Literals of these sessions are binary, which JSON functions refuse (3144). */
function priority(of: string): ByteSql {
  return `CAST(COALESCE(JSON_UNQUOTE(JSON_EXTRACT(${of}.spec, _utf8mb4'$.options.priority')), _utf8mb4'5') AS SIGNED)` as ByteSql;
}
