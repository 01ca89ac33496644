/** The key cells of a full text row. */
import type { TableDefinition } from "../columns/table-definition.js";
import { copiedColumns } from "../columns/table-definition.js";
import { cellBehind } from "../columns/text-row.js";
import { keyOfTable } from "./key-columns.js";

/** Pulls the key, a text row of its own (a copy), out of the text row at `start`. */
export type KeyOf = (row: Buffer, start?: number, end?: number) => Buffer;

export function keyOf(definition: TableDefinition): KeyOf {
  const cells = keyOfTable(definition).columns.map((c) => c.cell);
  const width = copiedColumns(definition).length;
  // The cells of the key stand together in most tables: then the key is a slice of the row.
  if (cells.every((cell, i) => cell === (cells[0] as number) + i)) return sliceKey(cells[0] as number, cells.length);
  const starts = new Uint32Array(width + 1);
  return (row, start = 0) => {
    let offset = start;
    for (let i = 0; i < width; i++) {
      starts[i] = offset;
      offset = cellBehind(row, offset);
    }
    starts[width] = offset;
    return Buffer.concat(cells.map((cell) => row.subarray(starts[cell], starts[cell + 1])));
  };
}

function sliceKey(first: number, count: number): KeyOf {
  return (row, start = 0) => {
    let from = start;
    for (let i = 0; i < first; i++) from = cellBehind(row, from);
    let to = from;
    for (let i = 0; i < count; i++) to = cellBehind(row, to);
    return Buffer.from(row.subarray(from, to));
  };
}
