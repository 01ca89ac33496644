import type { TransactionStart } from "./events.js";
import { EVENT, HEADER_SIZE } from "./event-types.js";
import { DecodeError } from "./decode-error.js";

/** `LOGICAL_TIMESTAMP_TYPECODE`: the commit's logical clock follows, and after it the timestamps of 8.0. */
const LOGICAL_CLOCK = 2;
const UUID_SIZE = 16;
const TWO_32 = 4294967296;

/** `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` of 16 bytes. */
export function uuidText(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Decodes GTID events (type 33); remembers the last UUID's text, as nearly all transactions have the same. */
export class GtidEventDecoder {
  private readonly uuid = new Uint8Array(UUID_SIZE);
  private prefix = "";

  decode(bytes: Buffer, start: number, end: number): TransactionStart {
    const body = start + HEADER_SIZE;
    if (end - body < 25) throw new DecodeError("the event ends too early");
    const low = bytes.readUInt32LE(body + 17);
    const high = bytes.readUInt32LE(body + 21);
    // Numbers of transactions go up to 2^63; beyond 2^53 only BigInt is exact.
    const number = high < 0x20_0000 ? high * TWO_32 + low : bytes.readBigUInt64LE(body + 17);
    return { gtid: this.uuidPrefix(bytes, body + 1) + number, committedAt: committedAt(bytes, start, body, end) };
  }

  private uuidPrefix(bytes: Buffer, at: number): string {
    const uuid = this.uuid;
    if (this.prefix !== "") {
      let i = 0;
      while (i < UUID_SIZE && uuid[i] === bytes[at + i]) i++;
      if (i === UUID_SIZE) return this.prefix;
    }
    uuid.set(bytes.subarray(at, at + UUID_SIZE));
    this.prefix = `${uuidText(uuid)}:`;
    return this.prefix;
  }
}

/** Seconds of the event header as milliseconds: all that servers before 8.0 (and MariaDB) tell. */
export function headerTime(bytes: Buffer, start: number): number {
  return bytes.readUInt32LE(start) * 1000;
}

/**
 * `original_commit_timestamp`, in microseconds in 7 bytes. The first timestamp is the immediate one; its highest bit says
 * that the original one differs and follows.
 */
function committedAt(bytes: Buffer, start: number, body: number, end: number): number {
  const clock = body + 25;
  let at = clock + 17;
  if (end < at + 7 || bytes[clock] !== LOGICAL_CLOCK) return headerTime(bytes, start);
  if (((bytes[at + 6] as number) & 0x80) !== 0 && end >= at + 14) at += 7;
  const high = (bytes.readUInt16LE(at + 4) | ((bytes[at + 6] as number) << 16)) & 0x7f_ffff;
  return Math.floor((high * TWO_32 + bytes.readUInt32LE(at)) / 1000);
}

/** The cure for events that carry no GTID. */
export function anonymousError(): DecodeError {
  return new DecodeError(
    `the binlog holds a transaction without a GTID (event type ${EVENT.ANONYMOUS_GTID})`,
    "set gtid_mode=ON on the source and start the migration anew",
  );
}
