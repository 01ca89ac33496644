/**
 * Statements that the source ends by itself after a time: whatever was expected of them, none of a diff's reads holds a
 * metadata lock there for much longer than a second. But for a table without a key, which cannot be cut: its limit is the session's, 4 s.
 */
import type { ByteSql } from "../../shared/mysql/bytes.js";
import type { Session } from "../../shared/mysql/session.js";

/** A SELECT that ends with an error after `limit` milliseconds; null leaves it to the session's own limit. */
export function limited(session: Pick<Session, "isMariaDb">, statement: ByteSql, limit: number | null): ByteSql {
  if (limit === null) return statement;
  if (session.isMariaDb) return `SET STATEMENT max_statement_time=${limit / 1000} FOR ${statement}` as ByteSql;
  return statement.replace(/^SELECT /, `SELECT /*+ MAX_EXECUTION_TIME(${limit}) */ `) as ByteSql;
}
