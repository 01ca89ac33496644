/** The hash of a key range: one autocommit SELECT that returns a single row. */
import { Position } from "../../shared/mysql/position.js";
import { sql, type ByteSql } from "../../shared/mysql/bytes.js";
import type { Session } from "../../shared/mysql/session.js";
import { chunkHashOf, chunkHashQuery, sameHash, type ChunkHash } from "../../shared/keys/chunk-hash.js";
import type { KeyRange } from "../../shared/keys/key-predicate.js";
import type { TableDefinition } from "../../shared/columns/table-definition.js";
import type { Sides } from "./sides.js";
import type { Subject } from "./subject.js";

export interface RangeHash extends ChunkHash {
  /** The server's executed position, read in the same statement. */
  position: string;
  elapsedMs: number;
}

/** Source and target. */
export type RangeHashes = [RangeHash, RangeHash];

/** Both sides' hashes, computed at the same time. */
export function hashRange(sides: Sides, subject: Subject, range: KeyRange): Promise<RangeHashes> {
  return sides.both((side) => sides.read(side, subject, (session, definition) => hashOn(session, definition, { ...range, where: subject.where })));
}

export function sameRange([source, target]: RangeHashes): boolean {
  return sameHash(source, target);
}

async function hashOn(session: Session, definition: TableDefinition, range: KeyRange & { where: string | null }): Promise<RangeHash> {
  const position = (session.isMariaDb ? "@@GLOBAL.gtid_current_pos" : "@@GLOBAL.gtid_executed") as ByteSql;
  const began = performance.now();
  const [row] = await session.rows(sql`SELECT hashes.*, ${position} AS position FROM (${chunkHashQuery(definition, range, session)}) AS hashes`);
  return { ...chunkHashOf(row), position: Position.parse(row?.["position"] ?? "").toString(), elapsedMs: performance.now() - began };
}
