/**
 * Takes the text of SHOW CREATE TABLE apart: its definition items and what comes behind the closing parenthesis.
 *
 * Names may hold line breaks, parentheses and commas, and so may comments and defaults: the text is scanned with
 * its quotes, not split by lines.
 */
import { DroverError } from "../errors.js";

export interface ShownCreate {
  /** Column, index and constraint definitions, each as the server wrote it. */
  items: string[];
  /** Table options and partitions, from the character behind the closing parenthesis. */
  tail: string;
}

/** @throws DroverError BUG when the text is not a CREATE TABLE with quoted names */
export function parseShowCreate(text: string): ShownCreate {
  const head = /^CREATE (?:TEMPORARY )?TABLE /.exec(text);
  let position = head === null ? -1 : skipQuoted(text, head[0].length);
  while (text[position] === " ") position += 1;
  if (head === null || text[position] !== "(") throw unreadable();
  const items: string[] = [];
  let depth = 1;
  let from = position + 1;
  for (let i = from; i < text.length; ) {
    const c = text[i] as string;
    if (c === "`" || c === "'" || c === '"') {
      i = skipQuoted(text, i);
      continue;
    }
    if (c === "(") depth += 1;
    else if (c === ")") depth -= 1;
    if (depth === 0 || (depth === 1 && c === ",")) {
      items.push(text.slice(from, i).trim());
      from = i + 1;
    }
    i += 1;
    if (depth === 0) return { items, tail: text.slice(i) };
  }
  throw unreadable();
}

/** The table's AUTO_INCREMENT counter; null where none is shown. */
export function shownCounter(text: string): bigint | null {
  const found = counterIn(text);
  return found === null ? null : BigInt(found.value);
}

/** The text without the counter, which moves by rows too: two of the same shape are equal. What looks like a counter in a comment, a default or a name is a part of the shape. */
export function shapeOf(text: string): string {
  const found = counterIn(text);
  return found === null ? text : text.slice(0, found.from) + text.slice(found.to);
}

/** Among the table's options, and there outside of quotes. */
function counterIn(text: string): { from: number; to: number; value: string } | null {
  const { tail } = parseShowCreate(text);
  const found = / AUTO_INCREMENT=(\d+)/.exec(blankQuoted(tail));
  if (found === null) return null;
  const from = text.length - tail.length + found.index;
  return { from, to: from + found[0].length, value: found[1] as string };
}

function unreadable(): DroverError {
  return new DroverError("BUG", "the text of SHOW CREATE TABLE has an unknown form");
}

/** The offset behind the quoted name or string that begins at `start`; a doubled quote and, in strings, a backslash escape. */
export function skipQuoted(text: string, start: number): number {
  const quote = text[start] as string;
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === "\\" && quote !== "`") i += 1;
    else if (text[i] === quote) {
      if (text[i + 1] !== quote) return i + 1;
      i += 1;
    }
  }
  throw unreadable();
}

/** The name that an item begins with (`name` …), or that follows its keywords (KEY `name` …); null when there is none. */
export function quotedName(item: string): string | null {
  const start = item.indexOf("`");
  if (start < 0 || /['"(]/.test(item.slice(0, start))) return null;
  return item.slice(start + 1, skipQuoted(item, start) - 1).replaceAll("``", "`");
}

/** The tables that its foreign keys lead to; the schema is null where the text leaves it out. */
export function referencedTables(text: string): { schema: string | null; table: string }[] {
  return parseShowCreate(text).items.flatMap((item) => {
    const blank = blankQuoted(item);
    const found = / REFERENCES (?=\s)/.exec(blank);
    if (!item.startsWith("CONSTRAINT `") || !/ FOREIGN KEY \(/.test(blank) || found === null) return [];
    const first = found.index + found[0].length;
    const behind = skipQuoted(item, first);
    const name = quotedName(item.slice(first, behind)) ?? "";
    return [item[behind] === "." ? { schema: name, table: quotedName(item.slice(behind + 1)) ?? "" } : { schema: null, table: name }];
  });
}

/** The text with the content of every quoted string and name replaced by spaces: for looking for keywords at their offsets. */
export function blankQuoted(text: string): string {
  let blank = "";
  for (let i = 0; i < text.length; ) {
    const c = text[i] as string;
    const behind = c === "`" || c === "'" || c === '"' ? skipQuoted(text, i) : i + 1;
    blank += behind === i + 1 ? c : " ".repeat(behind - i);
    i = behind;
  }
  return blank;
}
