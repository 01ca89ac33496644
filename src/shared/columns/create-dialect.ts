/**
 * The CREATE TABLE of one family of servers (MySQL, MariaDB) in the other's words, as far as both can say the same. What only one of them
 * can have is named by `obstacles`, for the preflight.
 *
 * MariaDB passes over `/*!NNNNN` comments of MySQL 5.7 and later, and so would lose what stands in them; MySQL passes over `/*M!` comments.
 * `COMPRESSED` columns and an SRID restriction (`/*!80003 SRID n`) may be lost: values keep every byte without them.
 */
import { DroverError } from "../errors.js";
import { blankQuoted, parseShowCreate, quotedName, skipQuoted } from "./show-create.js";
import { copiedColumns, type ColumnDefinition, type TableDefinition } from "./table-definition.js";

export type Family = "mysql" | "mariadb";

export function familyOf(definition: Pick<TableDefinition, "family">): Family {
  return definition.family ?? "mysql";
}

/**
 * A column, index or constraint; null when it is to be left out.
 * @param of the table, for the error's text
 * @throws DroverError UNDECODABLE for an expression that MariaDB would change without a word
 */
export function translateItem(item: string, of: Pick<TableDefinition, "schema" | "table">, from: Family, to: Family): string | null {
  if (from === to) return item;
  return to === "mariadb" ? itemForMariaDb(item, of) : itemForMysql(item);
}

/** The table's options. */
export function translateTail(tail: string, from: Family, to: Family): string {
  if (from === to || to === "mariadb") return tail;
  return tail.replace(STORAGE_OPTION_OR_STRING, (found) => (found.startsWith("'") ? found : ""));
}

/** MariaDB's options about how a table lies on disk; and strings, in which the same words may stand. */
const STORAGE_OPTION_OR_STRING = / `?(?:PAGE_COMPRESSED|PAGE_COMPRESSION_LEVEL|ENCRYPTED|ENCRYPTION_KEY_ID|PAGE_CHECKSUM|TRANSACTIONAL)`?=(?:\w+|'\w*')|'(?:[^'\\]|\\.|'')*'/gis;

function itemForMariaDb(item: string, { schema, table }: Pick<TableDefinition, "schema" | "table">): string | null {
  if (isNotEnforced(item)) return null;
  const fragile = fragileLiteral(item);
  if (fragile !== null) throw new DroverError("UNDECODABLE", `the expression of ${quotedName(item) ?? "a constraint"} of ${schema}.${table} has a literal of the character set ${fragile}, which MariaDB does not keep as it is`, { cure: LITERAL_CURE });
  const plain = withoutIntroducers(item);
  if (!item.startsWith("`")) return replaceUnquoted(plain, /\/\*!80000 INVISIBLE \*\//g, "IGNORED");
  return replaceUnquoted(replaceUnquoted(plain, /\/\*!80023 INVISIBLE \*\//g, "INVISIBLE"), /(?<=^ +)geomcollection\b/g, "geometrycollection");
}

/** In MariaDB a constraint that is not enforced does not exist: it would refuse rows that the source has. */
function isNotEnforced(item: string): boolean {
  return /\/\*!80016 NOT ENFORCED \*\/$/.test(item);
}

const LITERAL_CURE = "write the expression anew on the source, from a client whose character set is utf8mb4, or leave the table out";

/**
 * MariaDB takes an expression's literal apart twice when an introducer stands before it: `_utf8mb4'c\\d'` becomes `cd`, `_latin1 X'E9'` becomes
 * `xE9`, and `_utf8mb4'a\'b'` is refused (10.11). The statement is sent as utf8mb4 text, so this introducer can go.
 */
function withoutIntroducers(item: string): string {
  return introducers(item).filter(({ charset, literal }) => /^utf8(?:mb[34])?$/.test(charset) && literal.startsWith("'")).reduceRight((text, { at, behind }) => text.slice(0, at) + text.slice(behind), item);
}

/** The character set of a literal that MariaDB would change; null when there is none. */
function fragileLiteral(item: string): string | null {
  return introducers(withoutIntroducers(item)).find(({ literal }) => !/^'[^\\'\u0080-\uffff]*'$/.test(literal))?.charset ?? null;
}

interface Introduced {
  charset: string;
  /** Offsets of the introducer and of what follows it. */
  at: number;
  behind: number;
  /** A string with its quotes; of a hexadecimal or bit literal its beginning. */
  literal: string;
}

function introducers(item: string): Introduced[] {
  return [...blankQuoted(item).matchAll(/(?<![\w$])_([a-z0-9]+)(?=\W)/g)].flatMap(({ 1: charset = "", index }) => {
    const behind = index + charset.length + 1;
    const start = behind + item.slice(behind).search(/\S|$/);
    if (item[start] === "'") return [{ charset, at: index, behind, literal: item.slice(start, skipQuoted(item, start)) }];
    const literal = /^(?:[xb]'|0[xb])/i.exec(item.slice(start))?.[0];
    return literal === undefined ? [] : [{ charset, at: index, behind, literal }];
  });
}

function itemForMysql(item: string): string {
  if (!item.startsWith("`")) return replaceUnquoted(item, / IGNORED$/g, " INVISIBLE");
  return withDefaultInParentheses(replaceUnquoted(item, / REF_SYSTEM_ID=\d+/g, ""));
}

/** MySQL takes an expression, and for TEXT, BLOB, JSON and geometries any default, in parentheses only. */
function withDefaultInParentheses(item: string): string {
  const blank = blankQuoted(item);
  const found = / DEFAULT /.exec(blank);
  if (found === null) return item;
  const at = found.index + found[0].length;
  const type = /^ *(\w+)/.exec(blank.slice(skipQuoted(item, 0)))?.[1]?.toLowerCase() ?? "";
  const end = defaultEnd(item, at);
  const value = item.slice(at, end);
  const literal = /^(?:NULL|-?[\d.]+(?:e[+-]?\d+)?|current_timestamp(?:\(\d*\))?|[bx]?'.*')$/is.test(value);
  if (/^null$/i.test(value) || (literal && !/text$|blob$|^json$|^geometry$|^point$|^polygon$|^linestring$|^multi|collection$/.test(type))) return item;
  return `${item.slice(0, at)}(${value})${item.slice(end)}`;
}

/** The offset behind a default: the first space outside of quotes and parentheses that no operator follows or comes before. */
function defaultEnd(item: string, at: number): number {
  let depth = 0;
  for (let i = at; i < item.length; ) {
    const c = item[i] as string;
    if (c === "'" || c === '"' || c === "`") {
      i = skipQuoted(item, i);
      continue;
    }
    if (c === "(") depth += 1;
    else if (c === ")") depth -= 1;
    else if (c === " " && depth === 0 && /^ (?:ON UPDATE|COMMENT|CHECK|INVISIBLE|\/\*)/i.test(item.slice(i))) return i;
    i += 1;
  }
  return item.length;
}

/** Replaces what stands outside of quoted names and strings; the pattern sees these as spaces, their quotes too. */
function replaceUnquoted(text: string, pattern: RegExp, by: string): string {
  let result = "";
  let from = 0;
  for (const match of blankQuoted(text).matchAll(pattern)) {
    result += text.slice(from, match.index) + by;
    from = match.index + match[0].length;
  }
  return result + text.slice(from);
}

export interface Obstacle {
  code: string;
  message: string;
  cure: string;
}

/** What of the table a server of the other family cannot have. Empty within one family. */
export function obstacles(definition: TableDefinition, to: Family): Obstacle[] {
  const from = familyOf(definition);
  if (from === to) return [];
  const found: Obstacle[] = [];
  const name = `${definition.schema}.${definition.table}`;
  const target = to === "mariadb" ? "MariaDB" : "MySQL";
  for (const column of copiedColumns(definition)) {
    if (isMissing(column, to)) found.push({ code: "column-type", message: `the column ${column.name} of ${name} is ${column.columnType}, a type that ${target} does not have`, cure: "change the column's type on the source (to CHAR or VARBINARY, say), or leave the table out" });
    if (to === "mariadb" && column.invisible && !column.nullable && !column.autoIncrement && !hasDefault(definition, column))
      found.push({ code: "column-invisible", message: `the column ${column.name} of ${name} is invisible, NOT NULL and without a default, which MariaDB does not take`, cure: "give it a default on the source, or make it visible" });
  }
  for (const item of parseShowCreate(definition.createStatement).items) {
    const fragile = to === "mariadb" && !isNotEnforced(item) ? fragileLiteral(item) : null;
    if (fragile !== null) found.push({ code: "expression-literal", message: `the expression of ${quotedName(item) ?? "a constraint"} of ${name} has a literal of the character set ${fragile}, which MariaDB does not keep as it is`, cure: LITERAL_CURE });
  }
  for (const index of definition.indexes)
    if (to === "mariadb" && index.parts.some((part) => part.column === null))
      found.push({ code: "index-expression", message: `the index ${index.name} of ${name} is on an expression, which MariaDB does not have`, cure: "put the index on a generated column on the source, drop it, or leave the table out" });
  return found;
}

function isMissing(column: ColumnDefinition, to: Family): boolean {
  return (to === "mariadb" ? /^vector$/ : /^(?:uuid|inet4|inet6)$/).test(column.dataType);
}

function hasDefault(definition: TableDefinition, column: ColumnDefinition): boolean {
  const quoted = `\`${column.name.replaceAll("`", "``")}\``;
  const line = definition.createStatement.split("\n").find((one) => one.trimStart().startsWith(quoted)) ?? "";
  return / DEFAULT /.test(blankQuoted(line.trim()));
}

/** The definition by which rows are written on a server of the family `to`: MariaDB's JSON is text, and takes any as it stands. */
export function writtenAs(definition: TableDefinition, to: Family): TableDefinition {
  if (familyOf(definition) === to || to !== "mariadb" || !definition.columns.some((column) => column.dataType === "json")) return definition;
  const columns = definition.columns.map((column) => (column.dataType === "json" ? { ...column, dataType: "longtext", columnType: "longtext", charset: "utf8mb4", collation: "utf8mb4_bin" } : column));
  return { ...definition, columns };
}
