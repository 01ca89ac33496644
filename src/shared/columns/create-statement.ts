/**
 * The target's CREATE TABLE, from the source's SHOW CREATE TABLE: the same text under another name, with few changes.
 *
 * - Non-unique BTREE indexes may be left out, to be built after the rows: two to three times faster than keeping them up
 *   row by row. FULLTEXT and SPATIAL indexes stay (InnoDB builds only one FULLTEXT at a time), and so does an index that the
 *   table cannot be created without: for its AUTO_INCREMENT column, or for a foreign key (InnoDB would make one up).
 * - Where MySQL 5.7 writes `utf8mb4` without a collation, its collation is named: the default is another one from 8.0 on.
 * - On a server of the other family it is said in that one's words (see `create-dialect.ts`).
 *
 * Foreign keys stay in the CREATE: under `foreign_key_checks=0` the referenced table need not exist yet. A reference without
 * a schema means the target's schema; the name of a renamed table is not followed.
 */
import { familyOf, translateItem, translateTail, type Family } from "./create-dialect.js";
import { lostMembers } from "./lost-members.js";
import { BYTE_LITERALS, TEXT_LITERALS } from "./literals.js";
import { qualified, sql, utf8Sql, type ByteSql } from "../mysql/bytes.js";
import { blankQuoted, parseShowCreate, quotedName, skipQuoted } from "./show-create.js";
import type { ColumnDefinition, TableDefinition, TableName } from "./table-definition.js";

export interface CreateOptions extends TableName {
  deferIndexes: boolean;
  /** Of the server that it is for; default: the source's. */
  family?: Family;
}

export interface CreatedTable {
  /** To run in order on one session. */
  statements: ByteSql[];
  /** Clauses for `addIndexStatements` after the rows: ADD KEY …, as the source wrote them. */
  deferred: string[];
}

/** @throws DroverError UNDECODABLE when the definition does not say what the table is */
export function createStatement(definition: TableDefinition, options: CreateOptions): CreatedTable {
  const lost = lostMembers(definition);
  if (lost !== null) throw lost;
  const { items, tail } = parseShowCreate(definition.createStatement);
  const needed = options.deferIndexes ? indexesNeeded(definition, items) : null;
  const from = familyOf(definition);
  const to = options.family ?? from;
  const kept: string[] = [];
  const deferred: string[] = [];
  for (const original of items) {
    const item = translateItem(original, definition, from, to);
    if (item === null) continue;
    if (needed !== null && item.startsWith("KEY ") && isBtree(definition, item) && !needed.has(quotedName(item) ?? "")) deferred.push(`ADD ${item}`);
    else kept.push(item.startsWith("`") ? withCollation(definition, item) : item);
  }
  const body = utf8Sql(`(\n  ${kept.join(",\n  ")}\n)${withTableCollation(translateTail(tail, from, to))}`);
  return { statements: asText(sql`CREATE TABLE ${qualified(options.schema, options.table)} ${body}`), deferred };
}

/** One ALTER that builds the deferred indexes; none when there are none. */
export function addIndexStatements(target: TableName, deferred: readonly string[]): ByteSql[] {
  if (deferred.length === 0) return [];
  return asText(sql`ALTER TABLE ${qualified(target.schema, target.table)} ${utf8Sql(deferred.join(", "))}`);
}

/** DDL holds text, not bytes: a default or a member of an ENUM is converted to the column's character set. */
function asText(statement: ByteSql): ByteSql[] {
  return [TEXT_LITERALS, statement, BYTE_LITERALS];
}

function isBtree(definition: TableDefinition, item: string): boolean {
  const name = quotedName(item);
  return definition.indexes.some((index) => index.name === name && index.kind === "btree" && !index.unique);
}

/** Names of non-unique indexes that the table cannot be created without. */
function indexesNeeded(definition: TableDefinition, items: readonly string[]): Set<string> {
  const needed = new Set<string>();
  const leads = (columns: readonly string[]) => definition.indexes.filter((index) => index.kind === "btree" && columns.every((c, i) => index.parts[i]?.column === c && index.parts[i]?.prefix === null));
  const lists = definition.columns.filter((c) => c.autoIncrement).map((c) => [c.name]);
  for (const item of items) {
    const foreign = / FOREIGN KEY \(/.exec(blankQuoted(item));
    if (item.startsWith("CONSTRAINT ") && foreign) lists.push(namesIn(item, foreign.index + foreign[0].length));
  }
  for (const columns of lists) {
    const serving = leads(columns);
    if (!serving.some((index) => index.unique) && serving[0] !== undefined) needed.add(serving[0].name);
  }
  return needed;
}

/** The quoted names from `start` to the closing parenthesis. */
function namesIn(item: string, start: number): string[] {
  const names: string[] = [];
  for (let i = start; i < item.length && item[i] !== ")"; ) {
    if (item[i] !== "`") {
      i += 1;
      continue;
    }
    const behind = skipQuoted(item, i);
    names.push(item.slice(i + 1, behind - 1).replaceAll("``", "`"));
    i = behind;
  }
  return names;
}

/** A column's item with its collation named, where the text leaves it to the server's version: `CHARACTER SET utf8mb4` alone. */
function withCollation(definition: TableDefinition, item: string): string {
  const name = quotedName(item);
  const column: ColumnDefinition | undefined = definition.columns.find((c) => c.name === name);
  if (column?.collation == null) return item;
  const head = `${item.slice(0, skipQuoted(item, 0))} ${column.columnType} CHARACTER SET utf8mb4`;
  if (!item.startsWith(head) || / COLLATE/y.test(item.slice(head.length))) return item;
  return `${head} COLLATE ${column.collation}${item.slice(head.length)}`;
}

/** MySQL 5.7 leaves a default collation out; `utf8mb4`'s default there is not that of 8.0. */
function withTableCollation(tail: string): string {
  const found = /\bDEFAULT CHARSET=utf8mb4(?! COLLATE)\b/.exec(blankQuoted(tail));
  if (found === null) return tail;
  const at = found.index + found[0].length;
  return `${tail.slice(0, at)} COLLATE=utf8mb4_general_ci${tail.slice(at)}`;
}
