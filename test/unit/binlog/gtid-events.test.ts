import { describe, expect, it } from "vitest";
import { EVENT } from "../../../src/workers/binlog/event-types.js";
import { decodeMariadbGtid } from "../../../src/workers/binlog/mariadb-gtid-event.js";
import { decodeTaggedGtid } from "../../../src/workers/binlog/tagged-gtid-event.js";
import { event, u32, u64, u8, UUID, UUID_TEXT } from "./event-builder.js";

/** mysql::serialization's integer: as many trailing ones in the first byte as bytes follow. */
function varint(value: bigint): Buffer {
  for (let extra = 0; extra < 8; extra++) {
    if (value < 1n << BigInt(7 * (extra + 1))) {
      const bytes = Buffer.alloc(extra + 1);
      let raw = (value << BigInt(extra + 1)) | ((1n << BigInt(extra)) - 1n);
      for (let i = 0; i <= extra; i++, raw >>= 8n) bytes[i] = Number(raw & 0xffn);
      return bytes;
    }
  }
  return Buffer.concat([u8(0xff), u64(value)]);
}

function tagged(fields: [id: number, value: Buffer][], { version = 1n, required = 1n } = {}): Buffer {
  const rest = Buffer.concat([varint(required), ...fields.flatMap(([id, value]) => [varint(BigInt(id)), value])]);
  const size = BigInt(rest.length + 2 + (rest.length > 120 ? 1 : 0));
  return event(EVENT.GTID_TAGGED, Buffer.concat([varint(version), varint(size), rest]), { checksum: false });
}

const uuid = Buffer.concat([...UUID].map((byte) => varint(BigInt(byte))));
const tag = (text: string) => Buffer.concat([varint(BigInt(text.length)), Buffer.from(text)]);
const decode = (bytes: Buffer) => decodeTaggedGtid(bytes, 0, bytes.length);

describe("tagged GTID events", () => {
  it.each([1n, 63n, 64n, 8191n, 2n ** 31n, 2n ** 53n + 1n, 2n ** 63n - 2n])("number %d", (number) => {
    const bytes = tagged([[0, varint(1n)], [1, uuid], [2, varint(number * 2n)], [3, tag("a_tag")], [4, varint(5n)], [5, varint(6n)], [6, varint(1_700_000_000_123_456n)]]);
    expect(decode(bytes)).toEqual({ gtid: `${UUID_TEXT}:a_tag:${number}`, committedAt: 1_700_000_000_123 });
  });

  it("without tag, flags and times; with the time of the first commit", () => {
    expect(decode(tagged([[1, uuid], [2, varint(4n)]]))).toEqual({ gtid: `${UUID_TEXT}:2`, committedAt: 1_000_000 });
    expect(decode(tagged([[1, uuid], [2, varint(4n)], [6, varint(2_000_000n)], [7, varint(1_000n)], [8, varint(99n)]])).committedAt).toBe(1);
  });

  it("refuses what it cannot understand", () => {
    expect(() => decode(tagged([[1, uuid], [2, varint(4n)]], { version: 2n }))).toThrow(/version 2/);
    expect(() => decode(tagged([[1, uuid], [2, varint(4n)]], { required: 20n }))).toThrow(/field 19/);
    expect(() => decode(tagged([[2, varint(4n)]]))).toThrow(/no GTID/);
    const whole = tagged([[1, uuid], [2, varint(4n)], [3, tag("abc")]]);
    for (let length = 20; length < whole.length; length++) expect(() => decode(whole.subarray(0, length))).toThrow(/too early|no GTID/);
  });
});

describe("MariaDB's GTID events", () => {
  const decodeEvent = (...body: Buffer[]) => {
    const bytes = event(EVENT.MARIADB_GTID, Buffer.concat(body), { serverId: 77, checksum: false });
    return decodeMariadbGtid(bytes, 0, bytes.length);
  };
  it("domain, server and sequence; flags", () => {
    expect(decodeEvent(u64(2n ** 60n), u32(3), u8(0), Buffer.alloc(6))).toEqual({ gtid: `3-77-${2n ** 60n}`, committedAt: 1_000_000, standalone: false, preparedXa: false, ignoredAlter: false });
    expect(decodeEvent(u64(1), u32(0), u8(1))).toMatchObject({ standalone: true });
    expect(decodeEvent(u64(1), u32(0), u8(2), u64(9), u8(2))).toMatchObject({ ignoredAlter: true });
    expect(decodeEvent(u64(1), u32(0), u8(64), u32(1), u8(2, 1), Buffer.from("abc"), u8(0))).toMatchObject({ preparedXa: true, ignoredAlter: false });
  });
});
