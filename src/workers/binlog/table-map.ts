import { ByteReader } from "./byte-reader.js";
import { DecodeError } from "./decode-error.js";
import type { BinlogColumn } from "./events.js";
import { HEADER_SIZE } from "./event-types.js";
import { readTableMetadata } from "./table-metadata.js";
import { readColumnType, typeName, type ColumnType } from "./type-codes.js";

/** A decoded TABLE_MAP event. */
export interface TableMap {
  schema: string;
  table: string;
  columnCount: number;
  /** Empty when `problem` says why the columns are not known. */
  columns: BinlogColumn[];
  /** Why rows of the table cannot be decoded; it matters only when the table is wanted. */
  problem: DecodeError | null;
}

/** Offset of the event's body behind the table id. */
export const TABLE_MAP_BODY = HEADER_SIZE + 6;

/** The 6-byte table id of TABLE_MAP and rows events. */
export function readTableId(bytes: Buffer, start: number): number {
  return bytes.readUIntLE(start + HEADER_SIZE, 6);
}

/** Decodes the TABLE_MAP event at `start` up to `end` (checksum excluded), which a server of MariaDB or of MySQL wrote. */
export function decodeTableMap(bytes: Buffer, start: number, end: number, mariadb: boolean): TableMap {
  const reader = new ByteReader(bytes, start + TABLE_MAP_BODY, end);
  reader.take(2);
  const schema = reader.utf8(reader.u8());
  reader.take(1);
  const table = reader.utf8(reader.u8());
  reader.take(1);
  const columnCount = reader.lengthEncoded();
  const map: TableMap = { schema, table, columnCount, columns: [], problem: null };

  const codes = reader.take(columnCount);
  const metadataLength = reader.lengthEncoded();
  const metadataAt = reader.take(metadataLength);
  const metadata = new ByteReader(bytes, metadataAt, metadataAt + metadataLength);
  const types: ColumnType[] = [];
  for (let i = 0; i < columnCount; i++) {
    const code = bytes[codes + i] as number;
    const type = readColumnType(code, metadata);
    if (type === undefined) {
      map.problem = new DecodeError(`column ${i + 1} of ${schema}.${table} has the unknown ${typeName(code)} (code ${code})`);
      return map;
    }
    types.push(type);
  }
  const nulls = reader.take((columnCount + 7) >> 3);
  const details = readTableMetadata(reader, types, mariadb);
  if (details.names.length !== columnCount) {
    map.problem = new DecodeError(
      `the binlog does not name the columns of ${schema}.${table}`,
      "set binlog_row_metadata=FULL on the source and start the migration anew",
    );
    return map;
  }
  map.columns = types.map(({ type, metadata: typeMetadata }, i) => ({
    name: details.names[i] as string,
    type,
    metadata: typeMetadata,
    unsigned: details.unsigned[i] ?? false,
    collation: details.collations[i] ?? null,
    nullable: ((bytes[nulls + (i >> 3)] as number) & (1 << (i & 7))) !== 0,
  }));
  return map;
}
