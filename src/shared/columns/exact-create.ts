/**
 * The text of SHOW CREATE TABLE without what the server's own answer loses, or what decoding it as UTF-8 would.
 *
 * - A literal may hold bytes of another character set (MySQL: `_latin1'…'` of an expression that a latin1 client wrote) or no
 *   characters at all (MariaDB: the default of a VARBINARY). It becomes a hexadecimal literal.
 * - MariaDB shows a text's default in utf8mb3, with `?` for every other character; MySQL shows such a one in hexadecimal. The default itself is asked for.
 * - Members of ENUM and SET that utf8mb3 does not have are shown as `?` by both, and nothing tells them: see `lost-members.ts`.
 */
import { isUtf8 } from "node:buffer";
import { identifier, qualified, sql, type ByteSql } from "../mysql/bytes.js";
import type { Session } from "../mysql/session.js";
import { blankQuoted, parseShowCreate, quotedName, skipQuoted } from "./show-create.js";
import { rowCells } from "./text-row.js";

/** Null when it is no base table. */
export async function exactCreateStatement(session: Session, schema: string, table: string): Promise<string | null> {
  let cells: readonly (Buffer | null)[] = [];
  await session.readRows(sql`SHOW CREATE TABLE ${qualified(schema, table)}`, (buffer, start, end) => {
    cells = rowCells(buffer, start, end).map((cell) => cell && Buffer.from(cell));
  });
  const [, create] = cells;
  // Of a view there are four columns.
  if (cells.length !== 2 || create == null) return null;
  const text = exactText(create);
  return session.isMariaDb ? await withExactDefaults(session, schema, table, text) : text;
}

/** UTF-8, but for the content of string literals. */
export function exactText(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString("utf8");
  const raw = bytes.toString("latin1");
  let text = "";
  for (let i = 0; i < raw.length; ) {
    const c = raw[i] as string;
    let end = c === "'" || c === "`" || c === '"' ? skipQuoted(raw, i) : i + 1;
    while (end < raw.length && !/['"`]/.test(raw[i] as string) && !/['"`]/.test(raw[end] as string)) end += 1;
    const part = bytes.subarray(i, end);
    text += c === "'" && !isUtf8(part) ? `${text.endsWith(" ") ? "" : " "}X'${unescaped(raw.slice(i + 1, end - 1)).toString("hex")}'` : part.toString("utf8");
    i = end;
  }
  return text;
}

const ESCAPED: Record<string, string> = { "0": "\0", n: "\n", r: "\r", t: "\t", b: "\b", Z: "\x1a" };

function unescaped(content: string): Buffer {
  return Buffer.from(content.replace(/''|\\([\s\S])/g, (_, c?: string) => (c === undefined ? "'" : (ESCAPED[c] ?? c))), "latin1");
}

/** MariaDB: defaults in which a `?` may stand for another character, by their bytes. */
async function withExactDefaults(session: Session, schema: string, table: string, create: string): Promise<string> {
  const doubtful = parseShowCreate(create).items.flatMap((item) => {
    const found = item.startsWith("`") ? / DEFAULT /.exec(blankQuoted(item)) : null;
    if (found === null) return [];
    const at = found.index + found[0].length;
    const end = item[at] === "'" ? skipQuoted(item, at) : at;
    return item.slice(at, end).includes("?") ? [{ item, at, end, column: quotedName(item) as string }] : [];
  });
  if (doubtful.length === 0) return create;
  const list = doubtful.map(({ column }, i) => sql`HEX(DEFAULT(t.${identifier(column)})) AS d${i}`).join(", ") as ByteSql;
  // Of a row that is not there, so that an empty table answers too.
  const [row] = await session.rows(sql`SELECT ${list} FROM (SELECT 1 AS one) AS o LEFT JOIN ${qualified(schema, table)} AS t ON FALSE`);
  return doubtful.reduce((text, { item, at, end }, i) => {
    const hex = row?.[`d${i}`];
    return typeof hex === "string" ? text.replace(item, () => `${item.slice(0, at)}X'${hex}'${item.slice(end)}`) : text;
  }, create);
}
