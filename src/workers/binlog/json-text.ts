import { DecodeError } from "./decode-error.js";
import { decimalSize, writeDecimal } from "./decimal-text.js";
import { doubleText } from "./double-text.js";
import { writeSigned32, writeSigned64, writeUnsigned32, writeUnsigned64 } from "./integer-text.js";
import { packedText } from "./temporal-text.js";
import type { TextBuffer } from "./text-buffer.js";
import { TYPE } from "./type-codes.js";

/** Value types of MySQL's binary JSON (sql-common/json_binary.h). */
const JSON_TYPE = {
  SMALL_OBJECT: 0,
  LARGE_OBJECT: 1,
  SMALL_ARRAY: 2,
  LARGE_ARRAY: 3,
  LITERAL: 4,
  INT16: 5,
  UINT16: 6,
  INT32: 7,
  UINT32: 8,
  INT64: 9,
  UINT64: 10,
  DOUBLE: 11,
  STRING: 12,
  OPAQUE: 15,
} as const;

const LITERALS = ["null", "true", "false"] as const;

/** Deeper documents than the server's own limit of 100 cannot exist: a bound against damaged bytes. */
const MAX_DEPTH = 101;

/** `base64_encode` of the server breaks its lines after 76 characters. */
const BASE64_LINE = 76;

/**
 * Appends the text of the binary JSON document `bytes[at, end)` as the server's own conversion gives it
 * (`Json_wrapper::to_string`): members in stored order, `", "` and `": "` between them.
 */
export function writeJson(out: TextBuffer, bytes: Buffer, at: number, end: number): void {
  if (at === end) {
    // A NULL forced into a NOT NULL column by IGNORE; the server reads it as the JSON literal (Bug #21104470).
    out.ascii("null");
    return;
  }
  new JsonWriter(out, bytes, end).value(bytes[at] as number, at + 1, 1);
}

class JsonWriter {
  constructor(
    private readonly out: TextBuffer,
    private readonly bytes: Buffer,
    private readonly end: number,
  ) {}

  /** The value of the type `type` whose data begin at `at`. */
  value(type: number, at: number, depth: number): void {
    if (depth > MAX_DEPTH || at > this.end) throw damaged();
    const { out, bytes } = this;
    switch (type) {
      case JSON_TYPE.SMALL_OBJECT:
        return this.container(at, false, true, depth);
      case JSON_TYPE.LARGE_OBJECT:
        return this.container(at, true, true, depth);
      case JSON_TYPE.SMALL_ARRAY:
        return this.container(at, false, false, depth);
      case JSON_TYPE.LARGE_ARRAY:
        return this.container(at, true, false, depth);
      case JSON_TYPE.LITERAL: {
        const literal = LITERALS[bytes[at] as number];
        if (literal === undefined) throw damaged();
        return out.ascii(literal);
      }
      case JSON_TYPE.INT16:
        out.length = writeSigned32(out.reserve(20), out.length, bytes.readInt16LE(at));
        return;
      case JSON_TYPE.UINT16:
        out.length = writeUnsigned32(out.reserve(20), out.length, bytes.readUInt16LE(at));
        return;
      case JSON_TYPE.INT32:
        out.length = writeSigned32(out.reserve(20), out.length, bytes.readInt32LE(at));
        return;
      case JSON_TYPE.UINT32:
        out.length = writeUnsigned32(out.reserve(20), out.length, bytes.readUInt32LE(at));
        return;
      case JSON_TYPE.INT64:
        out.length = writeSigned64(out.reserve(24), out.length, bytes.readUInt32LE(at + 4), bytes.readUInt32LE(at));
        return;
      case JSON_TYPE.UINT64:
        out.length = writeUnsigned64(out.reserve(24), out.length, bytes.readUInt32LE(at + 4), bytes.readUInt32LE(at));
        return;
      case JSON_TYPE.DOUBLE: {
        const text = doubleText(bytes.readDoubleLE(at));
        out.ascii(text);
        // A double stays a double when it is read again.
        if (/^-?\d+$/.test(text)) out.ascii(".0");
        return;
      }
      case JSON_TYPE.STRING: {
        const [start, length] = this.variableLength(at);
        return this.string(start, start + length);
      }
      case JSON_TYPE.OPAQUE:
        return this.opaque(at);
      default:
        throw damaged();
    }
  }

  /** Count, size, key entries (objects), value entries, then keys and values. Offsets count from `at`. */
  private container(at: number, large: boolean, object: boolean, depth: number): void {
    const { out, bytes } = this;
    const width = large ? 4 : 2;
    const count = this.offset(at, large);
    const keyEntry = width + 2;
    const valueEntry = width + 1;
    const keys = at + 2 * width;
    const values = keys + (object ? count * keyEntry : 0);
    if (values + count * valueEntry > this.end) throw damaged();
    out.byte(object ? 0x7b : 0x5b);
    for (let i = 0; i < count; i++) {
      if (i > 0) out.ascii(", ");
      if (object) {
        const entry = keys + i * keyEntry;
        const start = at + this.offset(entry, large);
        this.string(start, start + bytes.readUInt16LE(entry + width));
        out.ascii(": ");
      }
      const entry = values + i * valueEntry;
      const type = bytes[entry] as number;
      const inlined = type >= JSON_TYPE.LITERAL && (type <= JSON_TYPE.UINT16 || (large && type <= JSON_TYPE.UINT32));
      this.value(type, inlined ? entry + 1 : at + this.offset(entry + 1, large), depth + 1);
    }
    out.byte(object ? 0x7d : 0x5d);
  }

  private offset(at: number, large: boolean): number {
    return large ? this.bytes.readUInt32LE(at) : this.bytes.readUInt16LE(at);
  }

  /** Seven bits a byte, lowest first, the highest bit set on all but the last. Gives the offset behind it and the length. */
  private variableLength(at: number): [start: number, length: number] {
    let length = 0;
    for (let i = 0; i < 5; i++) {
      const byte = this.bytes[at + i] as number;
      length += (byte & 0x7f) * 2 ** (7 * i);
      if ((byte & 0x80) === 0) return [at + i + 1, length];
    }
    throw damaged();
  }

  /** A quoted string. The bytes are utf8mb4; only quotes, backslashes and controls are escaped, so bytes can be looked at one by one. */
  private string(start: number, end: number): void {
    if (end > this.end) throw damaged();
    const { out, bytes } = this;
    out.byte(0x22);
    let clean = start;
    for (let i = start; i < end; i++) {
      const byte = bytes[i] as number;
      if (byte >= 0x20 && byte !== 0x22 && byte !== 0x5c) continue;
      out.copy(bytes, clean, i);
      clean = i + 1;
      out.ascii(ESCAPES[byte] ?? `\\u${byte.toString(16).padStart(4, "0")}`);
    }
    out.copy(bytes, clean, end);
    out.byte(0x22);
  }

  /** A value of a column type: its code, a length, and data. */
  private opaque(at: number): void {
    const { out, bytes } = this;
    const type = bytes[at] as number;
    const [start, length] = this.variableLength(at + 1);
    if (start + length > this.end) throw damaged();
    switch (type) {
      case TYPE.NEWDECIMAL: {
        const precision = bytes[start] as number;
        const scale = bytes[start + 1] as number;
        if (length < 2 + decimalSize(precision, scale)) throw damaged();
        out.length = writeDecimal(out.reserve(90), out.length, bytes, start + 2, precision, scale);
        return;
      }
      case TYPE.DATE:
        return out.ascii(`"${packedText("date", bytes.readBigInt64LE(start))}"`);
      case TYPE.TIME:
        return out.ascii(`"${packedText("time", bytes.readBigInt64LE(start))}"`);
      case TYPE.DATETIME:
      case TYPE.TIMESTAMP:
        return out.ascii(`"${packedText("datetime", bytes.readBigInt64LE(start))}"`);
      default: {
        const base64 = bytes.toString("base64", start, start + length);
        out.ascii(`"base64:type${type}:`);
        for (let i = 0; i < base64.length; i += BASE64_LINE) {
          if (i > 0) out.ascii("\\n");
          out.ascii(base64.slice(i, i + BASE64_LINE));
        }
        return out.byte(0x22);
      }
    }
  }
}

const ESCAPES: Record<number, string> = { 0x22: '\\"', 0x5c: "\\\\", 0x08: "\\b", 0x0c: "\\f", 0x0a: "\\n", 0x0d: "\\r", 0x09: "\\t" };

function damaged(): DecodeError {
  return new DecodeError("a JSON document in the binlog is damaged");
}
