import { DecodeError } from "./decode-error.js";

/** Reads the little-endian fields of an event in order, within bounds. For events that are rare; hot ones read in place. */
export class ByteReader {
  readonly bytes: Buffer;
  at: number;
  readonly end: number;

  constructor(bytes: Buffer, at: number, end: number) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  get left(): number {
    return this.end - this.at;
  }

  /** Moves over `count` bytes and gives the offset where they begin. */
  take(count: number): number {
    const at = this.at;
    if (!(count >= 0 && count <= this.end - at)) throw new DecodeError("the event ends too early");
    this.at = at + count;
    return at;
  }

  u8(): number {
    return this.bytes[this.take(1)] as number;
  }

  u16(): number {
    return this.bytes.readUInt16LE(this.take(2));
  }

  u32(): number {
    return this.bytes.readUInt32LE(this.take(4));
  }

  u64(): bigint {
    return this.bytes.readBigUInt64LE(this.take(8));
  }

  /** A length-encoded integer of the client protocol (`net_field_length`). */
  lengthEncoded(): number {
    const first = this.u8();
    if (first < 251) return first;
    if (first === 0xfc) return this.u16();
    if (first === 0xfd) return this.bytes.readUIntLE(this.take(3), 3);
    if (first === 0xfe) return Number(this.u64());
    throw new DecodeError("a length in the event is not valid");
  }

  utf8(length: number): string {
    const at = this.take(length);
    return this.bytes.toString("utf8", at, at + length);
  }
}
