/**
 * Positions: a MySQL GTID set, or a MariaDB GTID position. Both have a canonical text, which is what is stored and
 * compared. The set arithmetic is zongji's.
 */
import { GtidSet, MariadbGtidPosition } from "@vlasky/zongji";
import { DroverError } from "../errors.js";
import type { ByteSql } from "./bytes.js";
import type { Session } from "./session.js";

export class Position {
  private readonly model: GtidSet | MariadbGtidPosition;

  private constructor(model: GtidSet | MariadbGtidPosition) {
    this.model = model;
  }

  /** @throws DroverError SPEC_INVALID when `text` is neither form */
  static parse(text: string): Position {
    const trimmed = text.replace(/\s+/g, "");
    try {
      // A GTID set always holds a colon, a MariaDB position never does; the empty text is valid for both.
      return new Position(trimmed === "" || trimmed.includes(":") ? GtidSet.parse(trimmed) : MariadbGtidPosition.parse(trimmed));
    } catch (cause) {
      throw new DroverError("SPEC_INVALID", "not a GTID set (uuid:1-5,…) and not a MariaDB GTID position (0-1-5,…)", { cause });
    }
  }

  /** Adds the transaction `gtid`. */
  add(gtid: string): void {
    if (this.model instanceof GtidSet) return this.model.add(gtid);
    const [domain, server, sequence] = gtid.split("-");
    this.model.add({ domainId: Number(domain), serverId: Number(server), seqNo: sequence ?? "" });
  }

  /** Whether the transaction `gtid` is at or before this position. */
  contains(gtid: string): boolean {
    return this.model instanceof GtidSet ? this.model.contains(gtid) : this.model.covers(gtid);
  }

  /** Whether everything in `other` is in this position. */
  covers(other: Position): boolean {
    if (other.isEmpty()) return true;
    if (this.isEmpty()) return false;
    // A set covers another when their union is itself.
    if (this.model instanceof GtidSet) return GtidSet.parse(`${this},${other}`).toString() === this.toString();
    return other.toString().split(",").every((gtid) => this.contains(gtid));
  }

  isEmpty(): boolean {
    return this.model.isEmpty();
  }

  toString(): string {
    return this.model.toString();
  }
}

/** Whether `position` covers everything in `other`; both as texts. */
export function positionCovers(position: string, other: string): boolean {
  return position === other || Position.parse(position).covers(Position.parse(other));
}

/**
 * Everything committed on the server and visible to a SELECT that begins now. Not the binlog's head: a transaction can
 * be in the binlog before a SELECT can see it.
 */
export async function executedPosition(session: Session): Promise<string> {
  const statement = session.isMariaDb ? "SELECT @@GLOBAL.gtid_current_pos AS position" : "SELECT @@GLOBAL.gtid_executed AS position";
  const [row] = await session.rows(statement as ByteSql);
  return Position.parse(row?.["position"] ?? "").toString();
}
