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
    const column = columns[equal] as KeyColumn;
    terms.push(`${column.name}=${column.bound(lower[equal] as string)}`);
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
    equals += `${column.name}=${column.bound(cell)} AND `;
  }
  if (alternatives.length === 0) return "FALSE";
  return alternatives.length === 1 ? (alternatives[0] as string) : `(${alternatives.map((a) => `(${a})`).join(" OR ")})`;
}

/** More values than this are not written as a list. */
const MAX_LIST = 1_000n;

/** One column's comparison; null when no value can satisfy it. */
function comparison(column: KeyColumn, cell: string, operator: ">" | "<", orEqual: boolean): string | null {
  const { highest } = column.type;
  if (highest !== null) {
    // ENUM and SET: the range optimizer takes `=` and IN only.
    const value = BigInt(cell);
    const from = operator === ">" ? value + (orEqual ? 0n : 1n) : 0n;
    const to = operator === ">" ? highest : value - (orEqual ? 0n : 1n);
    if (from > to) return null;
    if (to - from < MAX_LIST) {
      const values: bigint[] = [];
      for (let v = from; v <= to; v++) values.push(v);
      return `${column.name} IN (${values.join(",")})`;
    }
  }
  return `${column.name}${operator}${orEqual ? "=" : ""}${column.bound(cell)}`;
}

/** The condition that a row has one of the keys. `keys` is not empty. */
export function keyIn(definition: TableDefinition, keys: readonly (Buffer | string)[]): ByteSql {
  const { columns } = keyOfTable(definition);
  const values = keys.map((key) => keyTuple(columns, key));
  return inList(columns, values);
}

/** A key's literal, as it stands in an IN list: `1` or `(1,'a')`. */
export function keyTuple(columns: readonly KeyColumn[], key: Buffer | string): string {
  const cells = keyCells(columns, key);
  if (columns.length === 1) return (columns[0] as KeyColumn).bound(cells[0] as string);
  let tuple = "(";
  for (let i = 0; i < columns.length; i++) tuple += (i === 0 ? "" : ",") + (columns[i] as KeyColumn).bound(cells[i] as string);
  return `${tuple})`;
}

export function inList(columns: readonly KeyColumn[], tuples: readonly string[]): ByteSql {
  const names = columns.map((column) => column.name).join(",");
  return `${columns.length === 1 ? names : `(${names})`} IN (${tuples.join(",")})` as ByteSql;
}

function keyCells(columns: readonly KeyColumn[], key: Buffer | string): string[] {
  const cells = rowCells(typeof key === "string" ? Buffer.from(key, "latin1") : key);
  if (cells.length !== columns.length) throw new RangeError(`a key of ${cells.length} cells for ${columns.length} key columns`);
  return cells.map((cell) => {
    if (cell === null) throw new RangeError("a key cell is NULL");
    return cell.toString("latin1");
  });
}
