/** Binlog events as bytes, for the tests of the decoders. Layouts: libs/mysql/binlog/event of MySQL. */
import { crc32 } from "node:zlib";
import { EVENT } from "../../../src/workers/binlog/event-types.js";

export const UUID = Buffer.from("0123456789abcdef0123456789abcdef", "hex");
export const UUID_TEXT = "01234567-89ab-cdef-0123-456789abcdef";

export const u8 = (...values: number[]): Buffer => Buffer.from(values);
export const u16 = (value: number): Buffer => {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
};
export const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
export const u64 = (value: bigint | number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)));
  return bytes;
};
export const text8 = (text: string): Buffer => Buffer.concat([u8(Buffer.byteLength(text)), Buffer.from(text)]);

export interface EventOptions {
  checksum?: boolean;
  flags?: number;
  timestamp?: number;
  serverId?: number;
  /** `end_log_pos`: 32 bits of the place in the file. */
  position?: number;
}

/** A whole event around `body`, by default with a checksum. */
export function event(type: number, body: Buffer, { checksum = true, flags = 0, timestamp = 1000, serverId = 1, position = 0 }: EventOptions = {}): Buffer {
  const size = 19 + body.length + (checksum ? 4 : 0);
  const bytes = Buffer.concat([u32(timestamp), u8(type), u32(serverId), u32(size), u32(position), u16(flags), body]);
  return checksum ? Buffer.concat([bytes, u32(crc32(bytes))]) : bytes;
}

/** Fixed lengths by type from 1 on, as 8.x has them. */
const FIXED = [0, 13, 0, 8, 0, 0, 0, 0, 4, 0, 4, 0, 0, 0, 98, 0, 4, 26, 8, 0, 0, 0, 8, 8, 8, 2, 0, 0, 0, 10, 10, 10, 42, 42, 0, 18, 52, 0, 10, 40, 0, 0];

export function formatDescription({ version = "9.7.4", checksums = true, fixed = FIXED, binlogVersion = 4 } = {}): Buffer {
  const name = Buffer.alloc(50);
  name.write(version);
  const body = Buffer.concat([u16(binlogVersion), name, u32(0), u8(19), Buffer.from(fixed), u8(checksums ? 1 : 0)]);
  return event(EVENT.FORMAT_DESCRIPTION, body);
}

export function gtid(number: bigint | number = 1, { immediate = 0n, original = 0n }: { immediate?: bigint; original?: bigint } = {}, options: EventOptions = {}): Buffer {
  const time = (value: bigint, marked: boolean) => u64(value | (marked ? 1n << 55n : 0n)).subarray(0, 7);
  const times = immediate === 0n ? [] : [time(immediate, original !== 0n), ...(original === 0n ? [] : [time(original, false)])];
  return event(EVENT.GTID, Buffer.concat([u8(0), UUID, u64(number), u8(2), u64(1), u64(2), ...times]), options);
}

export function query(sql: string, { schema = "s", mode = 0n, collation = 255, variables }: { schema?: string; mode?: bigint; collation?: number; variables?: Buffer } = {}, options: EventOptions = {}): Buffer {
  const status = variables ?? Buffer.concat([u8(0), u32(0), u8(1), u64(mode), u8(6, 3), Buffer.from("std"), u8(4), u16(collation), u16(255), u16(255)]);
  return event(EVENT.QUERY, Buffer.concat([u32(9), u32(0), u8(schema.length), u16(0), u16(status.length), status, Buffer.from(schema), u8(0), Buffer.from(sql)]), options);
}

export const xid = (options: EventOptions = {}): Buffer => event(EVENT.XID, u64(7), options);

export interface ColumnSpec {
  name: string;
  type: number;
  /** The type's bytes in the metadata block. */
  metadata?: Buffer;
  nullable?: boolean;
}

export interface TableMapSpec {
  id?: number;
  schema?: string;
  table?: string;
  columns: ColumnSpec[];
  names?: boolean;
  /** Further optional metadata fields. */
  extra?: Buffer[];
}

const field = (type: number, value: Buffer): Buffer => Buffer.concat([u8(type, value.length), value]);

export function tableMap({ id = 5, schema = "s", table = "t", columns, names = true, extra = [] }: TableMapSpec, options: EventOptions = {}): Buffer {
  const nulls = Buffer.alloc((columns.length + 7) >> 3);
  columns.forEach(({ nullable = true }, i) => {
    if (nullable) nulls[i >> 3] = (nulls[i >> 3] as number) | (1 << (i & 7));
  });
  const metadata = Buffer.concat(columns.map((column) => column.metadata ?? Buffer.alloc(0)));
  const body = Buffer.concat([
    u64(id).subarray(0, 6), u16(1), text8(schema), u8(0), text8(table), u8(0), u8(columns.length), Buffer.from(columns.map(({ type }) => type)), u8(metadata.length), metadata, nulls,
    ...(names ? [field(4, Buffer.concat(columns.map(({ name }) => text8(name))))] : []), ...extra,
  ]);
  return event(EVENT.TABLE_MAP, body, options);
}

/** A rows event of the second version whose images have all of `count` columns. */
export function rows(type: number, count: number, images: Buffer[], { id = 5, present = 0xff, extraData = Buffer.alloc(0) }: { id?: number; present?: number; extraData?: Buffer } = {}, options: EventOptions = {}): Buffer {
  const bitmap = Buffer.alloc((count + 7) >> 3, present);
  const bitmaps = type === EVENT.UPDATE_ROWS ? [bitmap, bitmap] : [bitmap];
  return event(type, Buffer.concat([u64(id).subarray(0, 6), u16(1), u16(2 + extraData.length), extraData, u8(count), ...bitmaps, ...images]), options);
}

/** A row image of up to eight columns; null cells have no bytes. */
export function image(...cells: (Buffer | null)[]): Buffer {
  const nulls = cells.reduce((bits, cell, i) => (cell === null ? bits | (1 << i) : bits), 0);
  return Buffer.concat([u8(nulls), ...cells.filter((cell) => cell !== null)]);
}
