/**
 * Predicates on row keys that MySQL answers by ranges of the key's index, compared in the columns' own collations.
 *
 * A row comparison `(a,b) > (1,2)` would be right but scans the whole index (also on 9.7): the server finds ranges only in its
 * expansion `a > 1 OR (a = 1 AND b > 2)`. Both bounds stay expansions of their own, joined by AND: merging them by values
 * would need to know which bounds are equal in the collation. Only byte-equal leading cells, which are equal in any
 * collation, are taken out in front.
 */
import type { ByteSql } from "../mysql/bytes.js";
import type { TableDefinition } from "../columns/table-definition.js";
import { bareLiteral } from "../columns/column-types.js";
import { rowCells } from "../columns/text-row.js";
import { keyOfTable, type KeyColumn } from "./key-columns.js";

/** A half-open range of keys `(lower, upper]`; bounds are text rows of key cells, null is an open end. */
export interface KeyRange {
  lower: Buffer | null;
  upper: Buffer | null;
}

/** The condition for the range; null when both ends are open. Holds column names without a table. */
export function keyPredicate(definition: TableDefinition, range: KeyRange): ByteSql | null {
  const { columns } = keyOfTable(definition);
  const lower = range.lower === null ? null : keyCells(columns, range.lower);
  const upper = range.upper === null ? null : keyCells(columns, range.upper);
  const terms: string[] = [];
  let equal = 0;
  // The last column is not factored out: `a > 1 AND a <= 1` is empty, `a = 1` is not.
  while (lower && upper && equal < columns.length - 1 && lower[equal] === upper[equal]) {
    terms.push(equality(columns[equal] as KeyColumn, lower[equal] as string));
    equal += 1;
  }
  if (lower) terms.push(expansion(columns, lower, equal, "after"));
  if (upper) terms.push(expansion(columns, upper, equal, "upTo"));
  return terms.length === 0 ? null : (terms.join(" AND ") as ByteSql);
}

/** `after`: keys behind the bound. `upTo`: keys before it, or equal. */
function expansion(columns: readonly KeyColumn[], cells: readonly string[], from: number, side: "after" | "upTo"): string {
  const alternatives: string[] = [];
  let equals = "";
  for (let i = from; i < columns.length; i++) {
    const column = columns[i] as KeyColumn;
    const cell = cells[i] as string;
    const last = i === columns.length - 1;
    const step = comparison(column, cell, (side === "after") !== column.descending ? ">" : "<", last && side === "upTo");
    if (step !== null) alternatives.push(equals + step);
    equals += `${equality(column, cell)} AND `;
  }
  if (alternatives.length === 0) return "FALSE";
  return alternatives.length === 1 ? (alternatives[0] as string) : `(${alternatives.map((a) => `(${a})`).join(" OR ")})`;
}

/**
 * `column = cell`. For ENUM and SET as a list of twice the same value: a plain equality with a number makes the optimizer drop
 * the column from ORDER BY, after which it no longer sees that the index has the order, and sorts.
 */
function equality(column: KeyColumn, cell: string): string {
  const literal = column.bound(cell);
  return column.type.highest === null ? `${column.name}=${literal}` : `${column.name} IN (${literal},${literal})`;
}

/** More values than this are not written as a list. */
const MAX_LIST = 1_000n;

/** One column's comparison; null when no value can satisfy it. */
function comparison(column: KeyColumn, cell: string, operator: ">" | "<", orEqual: boolean): string | null {
  const { highest } = column.type;
  if (highest !== null) {
    // ENUM and SET: the range optimizer takes `=` and IN only.
    const value = BigInt(bareLiteral(cell));
    const from = operator === ">" ? value + (orEqual ? 0n : 1n) : 0n;
    const to = operator === ">" ? highest : value - (orEqual ? 0n : 1n);
    if (from > to) return null;
    if (to - from < MAX_LIST) {
      const values: string[] = [];
      for (let v = from; v <= to; v++) values.push(column.bound(v.toString()));
      return `${column.name} IN (${values.join(",")})`;
    }
  }
  const orEqualSign = orEqual ? "=" : "";
  // As unsigned numbers on both sides: a SET by itself compares with a number as a signed one.
  if (highest !== null) return `CAST(${column.name} AS UNSIGNED)${operator}${orEqualSign}${bareLiteral(cell)}`;
  return `${column.name}${operator}${orEqualSign}${column.bound(cell)}`;
}

/** The condition that a row has one of the keys. `keys` is not empty. */
export function keyIn(definition: TableDefinition, keys: readonly (Buffer | string)[]): ByteSql {
  const { columns } = keyOfTable(definition);
  const form = keyListForm(columns);
  return form.list(keys.map((key) => form.item(key)));
}

/** How a list of keys is written so that each is an index look-up. */
export interface KeyListForm {
  item(key: Buffer | string): string;
  list(items: readonly string[]): ByteSql;
  /** Items in one statement at most. */
  readonly maxItems: number;
}

/**
 * Most key cells in one IN list. The range optimizer needs some hundreds of bytes for each, and when they exceed
 * `range_optimizer_max_mem_size` (8 MiB) it falls back to a scan of the whole table (measured: 20,000 keys of 3 columns).
 */
const MAX_CELLS = 3_000;
/** Keys in one chain of ORs: the cost grows with the square (measured: 58 µs a key at 1,000 keys, 265 µs at 5,000; IN stays at 10 µs). */
const MAX_ALTERNATIVES = 200;

/**
 * `k IN (1,2)` or `(a,b) IN ((1,2),(3,4))`. Row values with an ENUM or SET compare it as a string, even with a number, and find
 * nothing: those keys are written as `(a=1 AND e IN (2,2)) OR …`.
 */
export function keyListForm(columns: readonly KeyColumn[]): KeyListForm {
  const names = columns.map((column) => column.name).join(",");
  if (columns.length === 1) {
    const [column] = columns as [KeyColumn];
    return { item: (key) => column.bound(keyCells(columns, key)[0] as string), list: (items) => `${names} IN (${items.join(",")})` as ByteSql, maxItems: MAX_CELLS };
  }
  if (columns.some((column) => column.type.highest !== null)) {
    const item = (key: Buffer | string) => `(${keyCells(columns, key).map((cell, i) => equality(columns[i] as KeyColumn, cell)).join(" AND ")})`;
    return { item, list: (items) => `(${items.join(" OR ")})` as ByteSql, maxItems: MAX_ALTERNATIVES };
  }
  const item = (key: Buffer | string) => {
    const cells = keyCells(columns, key);
    let tuple = "(";
    for (let i = 0; i < columns.length; i++) tuple += (i === 0 ? "" : ",") + (columns[i] as KeyColumn).bound(cells[i] as string);
    return `${tuple})`;
  };
  return { item, list: (items) => `(${names}) IN (${items.join(",")})` as ByteSql, maxItems: Math.max(1, Math.floor(MAX_CELLS / columns.length)) };
}

function keyCells(columns: readonly KeyColumn[], key: Buffer | string): string[] {
  const cells = rowCells(typeof key === "string" ? Buffer.from(key, "latin1") : key);
  if (cells.length !== columns.length) throw new RangeError(`a key of ${cells.length} cells for ${columns.length} key columns`);
  return cells.map((cell) => {
    if (cell === null) throw new RangeError("a key cell is NULL");
    return cell.toString("latin1");
  });
}
