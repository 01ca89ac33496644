/**
 * The one form in which row data moves through Drover: a row of MySQL's text protocol. Per cell a length-encoded
 * string, or the byte 0xFB for NULL; the cells of a table's copied columns in their order. The server's own bytes go
 * through untouched: no cell ever becomes a JavaScript number or string of characters on the way.
 *
 * What the bytes of a cell are depends on the column's type (see `column-types.ts`): what `SELECT` gives under
 * `SET NAMES binary` for the type's read expression.
 */

export const NULL_CELL = 0xfb;

/** Bytes that the length prefix of a cell of `length` bytes takes. */
function prefixBytes(length: number): number {
  return length < 251 ? 1 : length < 65536 ? 3 : length < 16777216 ? 4 : 9;
}

/** Writes the length prefix at `offset`; returns the offset behind it. */
export function writePrefix(buffer: Buffer, offset: number, length: number): number {
  if (length < 251) {
    buffer[offset] = length;
    return offset + 1;
  }
  if (length < 65536) {
    buffer[offset] = 0xfc;
    return buffer.writeUInt16LE(length, offset + 1);
  }
  if (length < 16777216) {
    buffer[offset] = 0xfd;
    return buffer.writeUIntLE(length, offset + 1, 3);
  }
  buffer[offset] = 0xfe;
  return buffer.writeBigUInt64LE(BigInt(length), offset + 1);
}

/** One text row of the given cells (null for NULL). For tests and small rows; hot paths write in place. */
export function textRow(cells: readonly (Buffer | null)[]): Buffer {
  const size = cells.reduce((sum, cell) => sum + (cell === null ? 1 : prefixBytes(cell.length) + cell.length), 0);
  const row = Buffer.allocUnsafe(size);
  let offset = 0;
  for (const cell of cells) {
    if (cell === null) {
      row[offset++] = NULL_CELL;
      continue;
    }
    offset = writePrefix(row, offset, cell.length);
    offset += cell.copy(row, offset);
  }
  return row;
}

/** The cells of a text row (views into it, not copies). */
export function rowCells(row: Buffer, offset = 0, end = row.length): (Buffer | null)[] {
  const cells: (Buffer | null)[] = [];
  while (offset < end) {
    const first = row[offset] as number;
    if (first === NULL_CELL) {
      cells.push(null);
      offset += 1;
      continue;
    }
    let length: number;
    if (first < 251) {
      length = first;
      offset += 1;
    } else if (first === 0xfc) {
      length = row.readUInt16LE(offset + 1);
      offset += 3;
    } else if (first === 0xfd) {
      length = row.readUIntLE(offset + 1, 3);
      offset += 4;
    } else {
      length = Number(row.readBigUInt64LE(offset + 1));
      offset += 9;
    }
    cells.push(row.subarray(offset, offset + length));
    offset += length;
  }
  return cells;
}

/** The offset behind the cell that begins at `offset`. */
export function cellBehind(row: Buffer, offset: number): number {
  const first = row[offset] as number;
  if (first < 251) return offset + 1 + first;
  if (first === NULL_CELL) return offset + 1;
  if (first === 0xfc) return offset + 3 + row.readUInt16LE(offset + 1);
  if (first === 0xfd) return offset + 4 + row.readUIntLE(offset + 1, 3);
  return offset + 9 + Number(row.readBigUInt64LE(offset + 1));
}
