import { DecodeError } from "./decode-error.js";
import type { TransactionStart } from "./events.js";
import { HEADER_SIZE } from "./event-types.js";
import { headerTime, uuidText } from "./gtid-event.js";

/** Fields of `Gtid_event::define_fields` (MySQL 8.3+, libs/mysql/binlog/event/control_events.h). */
const FIELD = { FLAGS: 0, UUID: 1, NUMBER: 2, TAG: 3, LAST_COMMITTED: 4, SEQUENCE: 5, IMMEDIATE_TIME: 6, ORIGINAL_TIME: 7 } as const;
/** The highest field that the decoder knows the form of; a message that needs a later one cannot be understood. */
const LAST_KNOWN_FIELD = 11;

/** An integer of mysql::serialization: the trailing one bits of the first byte count the bytes that follow. */
class VarintReader {
  at: number;
  constructor(
    private readonly bytes: Buffer,
    at: number,
    private readonly end: number,
  ) {
    this.at = at;
  }

  get left(): number {
    return this.end - this.at;
  }

  unsigned(): bigint {
    const first = this.bytes[this.at] as number;
    let extra = 0;
    while (extra < 8 && (first & (1 << extra)) !== 0) extra++;
    if (this.at + extra >= this.end) throw new DecodeError("the event ends too early");
    let value = 0n;
    for (let i = extra; i > 0; i--) value = (value << 8n) | BigInt(this.bytes[this.at + i] as number);
    this.at += 1 + extra;
    // With up to seven bytes more, the first byte's upper bits are the value's lowest; with eight it has none.
    return extra >= 8 ? value : (value << BigInt(7 - extra)) | BigInt(first >> (extra + 1));
  }

  /** Signed integers carry the sign in the lowest bit. */
  signed(): bigint {
    const raw = this.unsigned();
    return (raw & 1n) === 0n ? raw >> 1n : -(raw >> 1n) - 1n;
  }

  small(): number {
    return Number(this.unsigned());
  }

  latin1(length: number): string {
    if (length > this.left) throw new DecodeError("the event ends too early");
    this.at += length;
    return this.bytes.toString("latin1", this.at - length, this.at);
  }
}

/**
 * Decodes a GTID_TAGGED_LOG event (type 42), which 8.3+ writes for transactions whose GTID has a tag. Its body is one
 * message of mysql::serialization: version, size, last required field, then fields in ascending order, each with its id.
 */
export function decodeTaggedGtid(bytes: Buffer, start: number, end: number): TransactionStart {
  const body = start + HEADER_SIZE;
  const header = new VarintReader(bytes, body, end);
  const version = header.small();
  if (version !== 1) throw new DecodeError(`a tagged GTID event has version ${version}, only 1 is known`);
  const size = header.small();
  if (size > end - body) throw new DecodeError("the event ends too early");
  const fields = new VarintReader(bytes, header.at, body + size);
  const required = fields.small();
  if (required > LAST_KNOWN_FIELD + 1) throw new DecodeError(`a tagged GTID event needs the unknown field ${required - 1}`);

  let uuid = "";
  let number = 0n;
  let tag = "";
  let immediate = 0n;
  let original = 0n;
  while (fields.left > 0) {
    const field = fields.small();
    if (field === FIELD.UUID) {
      // Sixteen integers of one or two bytes each, not sixteen bytes.
      uuid = uuidText(Uint8Array.from({ length: 16 }, () => fields.small()));
    } else if (field === FIELD.NUMBER) {
      number = fields.signed();
    } else if (field === FIELD.TAG) {
      tag = fields.latin1(fields.small());
    } else if (field === FIELD.IMMEDIATE_TIME) {
      immediate = fields.unsigned();
    } else if (field === FIELD.ORIGINAL_TIME) {
      original = fields.unsigned();
      break;
    } else if (field === FIELD.FLAGS || field === FIELD.LAST_COMMITTED || field === FIELD.SEQUENCE) {
      fields.unsigned();
    } else {
      break;
    }
  }
  if (uuid === "" || number <= 0n) throw new DecodeError("a tagged GTID event has no GTID");
  const microseconds = original === 0n ? immediate : original;
  return {
    gtid: tag === "" ? `${uuid}:${number}` : `${uuid}:${tag}:${number}`,
    committedAt: microseconds === 0n ? headerTime(bytes, start) : Number(microseconds / 1000n),
  };
}
