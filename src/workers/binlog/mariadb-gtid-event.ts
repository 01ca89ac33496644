import { ByteReader } from "./byte-reader.js";
import type { TransactionStart } from "./events.js";
import { HEADER_SIZE } from "./event-types.js";
import { headerTime } from "./gtid-event.js";

const FLAG = { STANDALONE: 1, GROUP_COMMIT_ID: 2, PREPARED_XA: 64, COMPLETED_XA: 128 } as const;
const EXTRA = { START_ALTER: 2, ROLLBACK_ALTER: 8 } as const;

export interface MariadbTransactionStart extends TransactionStart {
  /** The group is a single statement with no COMMIT; else a BEGIN is implied. */
  standalone: boolean;
  /** The group ends with XA PREPARE: its rows take effect only if an `XA COMMIT` follows. */
  preparedXa: boolean;
  /** Half of an ALTER that `binlog_alter_two_phase` wrote in two: its start, or its undoing. The statement is to be ignored. */
  ignoredAlter: boolean;
}

/** Decodes MariaDB's GTID event (type 162). The server id of the GTID is the one in the event's header. */
export function decodeMariadbGtid(bytes: Buffer, start: number, end: number): MariadbTransactionStart {
  const reader = new ByteReader(bytes, start + HEADER_SIZE, end);
  const sequence = reader.u64();
  const domain = reader.u32();
  const flags = reader.u8();
  if ((flags & FLAG.GROUP_COMMIT_ID) !== 0) reader.take(8);
  if ((flags & (FLAG.PREPARED_XA | FLAG.COMPLETED_XA)) !== 0) {
    reader.take(4);
    const global = reader.u8();
    const branch = reader.u8();
    reader.take(global + branch);
  }
  // 10.6+; older servers pad short events with zeros, which read as no flags.
  const extra = reader.left > 0 ? reader.u8() : 0;
  return {
    gtid: `${domain}-${bytes.readUInt32LE(start + 5)}-${sequence}`,
    committedAt: headerTime(bytes, start),
    standalone: (flags & FLAG.STANDALONE) !== 0,
    preparedXa: (flags & FLAG.PREPARED_XA) !== 0,
    ignoredAlter: (extra & (EXTRA.START_ALTER | EXTRA.ROLLBACK_ALTER)) !== 0,
  };
}
