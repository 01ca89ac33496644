/** The source's statement under the target's names: all else stays as it was written, byte for byte. */
import type { TableName } from "../../shared/columns/table-definition.js";
import type { ByteSql } from "../../shared/mysql/bytes.js";
import type { TableReference } from "./sql/statement.js";
import type { VersionMark } from "../../shared/sql/lexer.js";

export interface Replacement {
  at: TableReference;
  /** The name's two parts as bytes in the client's character set. */
  as: TableName;
}

/**
 * The target may be of another version: what the source executed inside a version comment is executed there without it.
 * @param text one byte per character
 */
export function rewriteStatement(text: string, replacements: readonly Replacement[], marks: readonly VersionMark[]): ByteSql {
  const edits = [
    ...replacements.map(({ at, as }) => ({ start: at.start, end: at.end, text: `${quoted(as.schema)}.${quoted(as.table)}` })),
    ...marks.map(({ start, end }) => ({ start, end, text: " " })),
  ].sort((a, b) => a.start - b.start);
  let result = "";
  let from = 0;
  for (const edit of edits) {
    // A mark inside a name, between its parts.
    if (edit.start < from) continue;
    result += text.slice(from, edit.start) + edit.text;
    from = edit.end;
  }
  return (result + text.slice(from)) as ByteSql;
}

/** A backtick's byte is doubled; as the second byte of a character it occurs in sets that no name is written in here (see `encodeName`). */
function quoted(bytes: string): string {
  return `\`${bytes.replaceAll("`", "``")}\``;
}
