/** The hash of a key range: one autocommit SELECT that returns a single row. */
import { Position } from "../../shared/mysql/position.js";
import { sql, type ByteSql } from "../../shared/mysql/bytes.js";
import type { Session } from "../../shared/mysql/session.js";
import { chunkHashOf, chunkHashQuery, sameHash, type ChunkHash } from "../../shared/keys/chunk-hash.js";
import type { KeyRange } from "../../shared/keys/key-predicate.js";
import type { TableDefinition } from "../../shared/columns/table-definition.js";
import type { Sides } from "./sides.js";
import type { Subject } from "./subject.js";
import { limited } from "./time-limit.js";

export interface RangeHash extends ChunkHash {
  /** The server's executed position, read in the same statement. */
  position: string;
  elapsedMs: number;
}

/** Source and target. */
export type RangeHashes = [RangeHash, RangeHash];

/**
 * Both sides' hashes, computed at the same time.
 * @param limit when the source ends the statement, in milliseconds; null for the session's own limit
 */
export function hashRange(sides: Sides, subject: Subject, range: KeyRange, limit: number | null): Promise<RangeHashes> {
  return sides.both((side) => sides.read(side, subject, (session, definition) => hashOn(session, definition, { ...range, where: subject.where }, side === "source" ? limit : null)));
}

/** The time of the slower side, in milliseconds. */
export function hashTime([source, target]: RangeHashes): number {
  return Math.max(source.elapsedMs, target.elapsedMs);
}

export function sameRange([source, target]: RangeHashes): boolean {
  return sameHash(source, target);
}

async function hashOn(session: Session, definition: TableDefinition, range: KeyRange & { where: string | null }, limit: number | null): Promise<RangeHash> {
  const position = (session.isMariaDb ? "@@GLOBAL.gtid_current_pos" : "@@GLOBAL.gtid_executed") as ByteSql;
  const began = performance.now();
  const [row] = await session.rows(limited(session, sql`SELECT hashes.*, ${position} AS position FROM (${chunkHashQuery(definition, range, session)}) AS hashes`, limit));
  return { ...chunkHashOf(row), position: Position.parse(row?.["position"] ?? "").toString(), elapsedMs: performance.now() - began };
}
