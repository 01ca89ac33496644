/**
 * What the lexer must know of the client's character set.
 *
 * In most sets every byte below 0x80 is the ASCII character, so that statements can be read byte by byte. In five of them
 * the second byte of a character may be one of `@A…Z[\]^_`a…z{|}~` or a digit, a backslash or a backtick among them.
 */
import { UnreadableStatement } from "./unreadable-statement.js";

/** How many bytes the character at `i` has; `text` holds one byte per character. */
export type CharacterLength = (text: string, i: number) => number;

const single: CharacterLength = () => 1;

const between = (text: string, i: number, low: number, high: number) => {
  const code = text.charCodeAt(i);
  return code >= low && code <= high;
};

const MULTI_BYTE: Record<string, CharacterLength> = {
  big5: (text, i) => (between(text, i, 0xa1, 0xf9) && i + 1 < text.length ? 2 : 1),
  gbk: (text, i) => (between(text, i, 0x81, 0xfe) && i + 1 < text.length ? 2 : 1),
  sjis: (text, i) => ((between(text, i, 0x81, 0x9f) || between(text, i, 0xe0, 0xfc)) && i + 1 < text.length ? 2 : 1),
  gb18030: (text, i) => {
    if (!between(text, i, 0x81, 0xfe) || i + 1 >= text.length) return 1;
    return between(text, i + 1, 0x30, 0x39) ? 4 : 2;
  },
};
MULTI_BYTE["cp932"] = MULTI_BYTE["sjis"] as CharacterLength;

/** Sets whose bytes below 0x80 are not all ASCII's, or that no client can use. */
const NOT_ASCII = new Set(["swe7", "ucs2", "utf16", "utf16le", "utf32"]);

/** @throws UnreadableStatement for a set that statements cannot be read in */
export function characterLength(charset: string): CharacterLength {
  if (NOT_ASCII.has(charset)) throw new UnreadableStatement(`its character set is ${charset}`);
  return MULTI_BYTE[charset] ?? single;
}

/** The byte of the no-break space, which the server's lexer takes for a space in sets of one byte per character; null where there is none. */
export function extraSpace(charset: string): string | null {
  if (isUtf8(charset) || MULTI_BYTE[charset] !== undefined || /^(?:ujis|eucjpms|euckr|gb2312)$/.test(charset)) return null;
  if (/^(?:cp850|cp852|cp866)$/.test(charset)) return "\xff";
  if (charset === "koi8r" || charset === "koi8u") return "\x9a";
  return charset.startsWith("mac") ? "\xca" : "\xa0";
}

/** Whether names in this set are UTF-8 already. */
export function isUtf8(charset: string): boolean {
  return charset === "utf8mb4" || charset === "utf8mb3" || charset === "utf8" || charset === "binary" || charset === "ascii";
}

/** Collation ids of the sets that nearly all clients use; the others are looked up on the server. */
export function utf8Collation(collation: number): string | null {
  if (collation === 45 || collation === 46 || (collation >= 224 && collation <= 247) || (collation >= 255 && collation <= 323)) return "utf8mb4";
  if (collation === 33 || collation === 76 || collation === 83 || collation === 223 || (collation >= 192 && collation <= 215)) return "utf8mb3";
  return collation === 63 ? "binary" : collation === 11 || collation === 65 ? "ascii" : null;
}
