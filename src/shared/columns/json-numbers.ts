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
const ZERO = 0x30;
const NINE = 0x39;

/** Whether the document at `start` holds such a number. */
export function hasInexactNumber(document: Buffer, start: number, end: number): boolean {
  let digits = 0;
  for (let i = start; i < end; i++) {
    const byte = document[i] as number;
    if (byte === QUOTE) {
      for (i += 1; i < end && document[i] !== QUOTE; i++) if (document[i] === BACKSLASH) i += 1;
    } else if (byte >= ZERO && byte <= NINE) {
      digits += 1;
      // Fewer than 19 digits fit into an integer.
      if (digits < 19) continue;
    } else if (byte !== POINT) {
      digits = 0;
      continue;
    }
    if (byte === QUOTE) continue;
    let from = i;
    while (from > start && isNumeral(document[from - 1] as number)) from -= 1;
    let to = i + 1;
    while (to < end && isNumeral(document[to] as number)) to += 1;
    if (!isExact(document.toString("latin1", from, to))) return true;
    i = to - 1;
    digits = 0;
  }
  return false;
}

function isNumeral(byte: number): boolean {
  return (byte >= ZERO && byte <= NINE) || byte === POINT || byte === 0x2d || byte === 0x2b || byte === 0x65 || byte === 0x45;
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
