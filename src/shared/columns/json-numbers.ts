/**
 * Numbers in JSON documents that their text cannot carry.
 *
 * A document that the server built from a DECIMAL (`JSON_OBJECT('price', price)`) holds a DECIMAL: `12.50`, or 65 digits. Read
 * back from text every number with a point is a DOUBLE: `12.5`. Such numbers are set again as decimal literals by JSON_SET, so
 * that the document's text is the same on both sides. (A DECIMAL whose text is also its double's stays a DOUBLE; dates and
 * other opaque values become strings. The text does not tell them apart.)
 */
import { bytesLiteral, type ByteSql } from "../mysql/bytes.js";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const POINT = 0x2e;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;

/** Whether the document at `start` holds such a number. Looks at every byte of every document on its way to LOAD DATA. */
export function hasInexactNumber(document: Buffer, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const byte = document[i] as number;
    if (byte === QUOTE) {
      for (i += 1; i < end; i++) {
        const inside = document[i] as number;
        if (inside === QUOTE) break;
        if (inside === BACKSLASH) i += 1;
      }
    } else if (byte >= ZERO && byte <= NINE) {
      const from = i;
      let point = -1;
      for (i += 1; i < end; i++) {
        const digit = document[i] as number;
        if (digit === POINT) point = i;
        else if (digit < ZERO || digit > NINE) break;
      }
      if (point === -1 ? i - from < 19 : isShort(document, from, point, i)) continue;
      while (i < end && isNumeral(document[i] as number)) i += 1;
      if (!isExact(document.toString("latin1", from > start && document[from - 1] === MINUS ? from - 1 : from, i))) return true;
    }
  }
  return false;
}

/** Surely exact: up to 15 digits without needless zeros at the end, and not tiny. Most doubles that people write are. */
function isShort(document: Buffer, from: number, point: number, end: number): boolean {
  if (end - from > 16) return false;
  return (document[from] !== ZERO || document[point + 1] !== ZERO) && (document[end - 1] !== ZERO || end - point === 2);
}

function isNumeral(byte: number): boolean {
  return (byte >= ZERO && byte <= NINE) || byte === POINT || byte === MINUS || byte === 0x2b || byte === 0x65 || byte === 0x45;
}

/** Whether the server prints the number as it stands after reading it; when in doubt not. */
function isExact(numeral: string): boolean {
  // Only doubles have exponents.
  if (/e/i.test(numeral)) return true;
  if (!numeral.includes(".")) {
    const value = BigInt(numeral);
    return value >= -(2n ** 63n) && value < 2n ** 64n;
  }
  const value = Number(numeral);
  if (value === 0) return numeral === "0.0" || numeral === "-0.0";
  // Where the server and JavaScript both print the shortest digits without an exponent.
  if (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e15) return false;
  return numeral === (Number.isInteger(value) ? `${value}.0` : String(value));
}

/** A document (latin1 bytes of its utf8mb4 text) as an expression of exactly that text. */
export function jsonLiteral(document: string): ByteSql {
  const plain = `_utf8mb4${bytesLiteral(document)}`;
  const numbers = inexactNumbers(document);
  if (numbers.length === 0) return plain as ByteSql;
  return `JSON_SET(${plain}${numbers.map(({ path, numeral }) => `,_utf8mb4${bytesLiteral(path)},${numeral}`).join("")})` as ByteSql;
}

/** The numbers that need setting, each with its JSON path. */
function inexactNumbers(document: string): { path: string; numeral: string }[] {
  const found: { path: string; numeral: string }[] = [];
  /** Per open array the current index, per open object the current member's name as it is written. */
  const open: (number | string)[] = [];
  const token = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|[[\]{},:]/gs;
  let lastString = "";
  for (let match = token.exec(document); match !== null; match = token.exec(document)) {
    const text = match[0];
    const first = text[0] as string;
    if (first === '"') lastString = text;
    else if (first === "[") open.push(0);
    else if (first === "{") open.push("");
    else if (first === "]" || first === "}") open.pop();
    else if (first === ":") open[open.length - 1] = lastString;
    else if (first === ",") {
      const top = open.at(-1);
      if (typeof top === "number") open[open.length - 1] = top + 1;
    } else if (!isExact(text)) found.push({ path: `$${open.map((leg) => (typeof leg === "number" ? `[${leg}]` : `.${leg}`)).join("")}`, numeral: text });
  }
  return found;
}
