/**
 * SQL that carries raw bytes.
 *
 * Sessions speak `SET NAMES binary`: the server neither converts what we send nor what it sends. A statement is
 * therefore a string in which every character stands for one byte ("byte SQL", what Node calls latin1). Text that
 * people wrote (identifiers, filters) is UTF-8 and enters through `utf8Sql`.
 */
import { DroverError } from "../errors.js";

declare const byteSql: unique symbol;
export type ByteSql = string & { readonly [byteSql]: true };

/** The UTF-8 bytes of `text` as byte SQL. */
export function utf8Sql(text: string): ByteSql {
  // eslint-disable-next-line no-control-regex
  return (/^[\x00-\x7f]*$/.test(text) ? text : Buffer.from(text, "utf8").toString("latin1")) as ByteSql;
}

/** Joins byte SQL; the tag keeps plain strings with non-ASCII characters out by type. */
export function sql(strings: TemplateStringsArray, ...parts: (ByteSql | number | bigint)[]): ByteSql {
  let text = strings[0] as string;
  for (const [i, part] of parts.entries()) text += String(part) + (strings[i + 1] as string);
  return text as ByteSql;
}

/** A quoted identifier. */
export function identifier(name: string): ByteSql {
  return utf8Sql(`\`${name.replaceAll("`", "``")}\``);
}

/** `schema`.`table`, quoted. */
export function qualified(schema: string, table: string): ByteSql {
  return `${identifier(schema)}.${identifier(table)}` as ByteSql;
}

const ESCAPES: Record<string, string> = { "\0": "\\0", "\n": "\\n", "\r": "\\r", "\x1a": "\\Z", "'": "\\'", "\\": "\\\\" };

/**
 * A string literal of raw bytes (latin1 characters), without an introducer: its character set is binary. Needs a `sql_mode` without NO_BACKSLASH_ESCAPES.
 * @throws DroverError BUG for text that is no byte SQL: its characters would be cut to one byte each, and U+0127 would become a quote
 */
export function bytesLiteral(bytes: string): ByteSql {
  // eslint-disable-next-line no-control-regex
  return (/[\0\n\r\x1a'\\\u0100-\uffff]/.test(bytes) ? `'${bytes.replace(/[\0\n\r\x1a'\\\u0100-\uffff]/g, escaped)}'` : `'${bytes}'`) as ByteSql;
}

function escaped(character: string): string {
  const escape = ESCAPES[character];
  if (escape === undefined) throw new DroverError("BUG", "a literal of bytes holds a character that is more than a byte");
  return escape;
}

/** A literal of UTF-8 text, with its introducer so that it compares as text. */
export function textLiteral(text: string): ByteSql {
  return `_utf8mb4${bytesLiteral(utf8Sql(text))}` as ByteSql;
}
