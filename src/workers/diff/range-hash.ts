/** The hash of a key range: one autocommit SELECT that returns a single row. */
import { sql, type ByteSql } from "../../shared/mysql/bytes.js";
import type { Session } from "../../shared/mysql/session.js";
import { Position } from "../../shared/mysql/position.js";
import { conditions, keyedTable } from "../../shared/keys/chunk-select.js";
import type { KeyRange } from "../../shared/keys/key-predicate.js";
import type { TableDefinition } from "../../shared/columns/table-definition.js";
import { rowHashExpression } from "../../shared/columns/row-hash.js";
import type { Sides } from "./sides.js";
import type { Subject } from "./subject.js";

export interface RangeHash {
  rows: number;
  hash: string;
  /** The server's executed position, read in the same statement. */
  position: string;
  elapsedMs: number;
}

/** Both sides' hashes, computed at the same time. */
export function hashRange(sides: Sides, subject: Subject, range: KeyRange): Promise<[RangeHash, RangeHash]> {
  return sides.both((side) => sides.read(side, subject, (session, definition) => hashOn(session, definition, { ...range, where: subject.where })));
}

async function hashOn(session: Session, definition: TableDefinition, range: KeyRange & { where: string | null }): Promise<RangeHash> {
  const began = performance.now();
  const [row] = await session.rows(hashStatement(session, definition, range));
  return {
    rows: Number(row?.["n"]),
    hash: row?.["hash"] ?? "",
    position: Position.parse(row?.["position"] ?? "").toString(),
    elapsedMs: performance.now() - began,
  };
}

function hashStatement(session: Session, definition: TableDefinition, range: KeyRange & { where: string | null }): ByteSql {
  const position = (session.isMariaDb ? "@@GLOBAL.gtid_current_pos" : "@@GLOBAL.gtid_executed") as ByteSql;
  const rows = sql`FROM ${keyedTable(definition)}${conditions(definition, range)}`;
  const rowHash = rowHashExpression(definition);
  // XOR of the rows' hashes: free of order, and rows cannot cancel out because their keys, which are in the hash, are unique.
  if (!session.isMariaDb && !session.version.startsWith("5."))
    return sql`SELECT COUNT(*) AS n, HEX(BIT_XOR(UNHEX(${rowHash}))) AS hash, ${position} AS position ${rows}`;
  // MariaDB and MySQL 5.7 have BIT_XOR for 64 bits only. The LIMIT keeps the derived table from being merged: each row is hashed once.
  const quarters = [1, 17, 33, 49].map((from) => `LPAD(HEX(BIT_XOR(CAST(CONV(SUBSTR(h,${from},16),16,10) AS UNSIGNED))),16,'0')`).join(",") as ByteSql;
  return sql`SELECT COUNT(*) AS n, CONCAT(${quarters}) AS hash, ${position} AS position FROM (SELECT ${rowHash} AS h ${rows} LIMIT 18446744073709551615) AS r`;
}
