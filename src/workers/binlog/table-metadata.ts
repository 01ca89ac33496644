import { ByteReader } from "./byte-reader.js";
import { isCharacter, isNumeric, TYPE, type ColumnType } from "./type-codes.js";

/** The optional part of a TABLE_MAP event (MySQL 8.0+, MariaDB 10.5+), by the table's columns. */
export interface TableMetadata {
  /** Empty unless `binlog_row_metadata=FULL`. */
  names: string[];
  unsigned: boolean[];
  /** Collation ids of character columns, ENUM and SET. */
  collations: (number | undefined)[];
}

/** Field codes (`Optional_metadata_field_type`); the others tell nothing that rows are decoded by. */
const FIELD = { SIGNEDNESS: 1, DEFAULT_CHARSET: 2, COLUMN_CHARSET: 3, COLUMN_NAME: 4, ENUM_SET_DEFAULT_CHARSET: 10, ENUM_SET_COLUMN_CHARSET: 11 } as const;

/** Reads the fields that are left in `reader`. Each list counts only the columns of its kind, in the table's order. */
export function readTableMetadata(reader: ByteReader, types: readonly ColumnType[], mariadb: boolean): TableMetadata {
  const ordinals = (is: (type: number) => boolean): number[] => types.flatMap(({ type }, i) => (is(type) ? [i] : []));
  // MariaDB counts geometries, as binary strings (measured on 10.11); MySQL does not.
  const characters = ordinals((type) => isCharacter(type) || (mariadb && type === TYPE.GEOMETRY));
  const enums = ordinals((type) => type === TYPE.ENUM || type === TYPE.SET);
  const metadata: TableMetadata = { names: [], unsigned: [], collations: [] };
  while (reader.left > 0) {
    const field = reader.u8();
    const length = reader.lengthEncoded();
    const at = reader.take(length);
    const value = new ByteReader(reader.bytes, at, at + length);
    switch (field) {
      case FIELD.SIGNEDNESS:
        readSigns(value, ordinals(isNumeric), metadata.unsigned);
        break;
      case FIELD.DEFAULT_CHARSET:
        readDefault(value, characters, metadata.collations);
        break;
      case FIELD.COLUMN_CHARSET:
        readEach(value, characters, metadata.collations);
        break;
      case FIELD.ENUM_SET_DEFAULT_CHARSET:
        readDefault(value, enums, metadata.collations);
        break;
      case FIELD.ENUM_SET_COLUMN_CHARSET:
        readEach(value, enums, metadata.collations);
        break;
      case FIELD.COLUMN_NAME:
        while (value.left > 0) metadata.names.push(value.utf8(value.lengthEncoded()));
        break;
    }
  }
  return metadata;
}

/** A bit per column, the first one in the highest place. */
function readSigns(value: ByteReader, ordinals: readonly number[], unsigned: boolean[]): void {
  const at = value.take((ordinals.length + 7) >> 3);
  for (const [i, ordinal] of ordinals.entries()) unsigned[ordinal] = ((value.bytes[at + (i >> 3)] as number) & (0x80 >> (i & 7))) !== 0;
}

/** One collation for all, then pairs of position and collation for those that differ. */
function readDefault(value: ByteReader, ordinals: readonly number[], collations: (number | undefined)[]): void {
  const common = value.lengthEncoded();
  for (const ordinal of ordinals) collations[ordinal] = common;
  while (value.left > 0) {
    const ordinal = ordinals[value.lengthEncoded()];
    const collation = value.lengthEncoded();
    if (ordinal !== undefined) collations[ordinal] = collation;
  }
}

function readEach(value: ByteReader, ordinals: readonly number[], collations: (number | undefined)[]): void {
  for (const ordinal of ordinals) collations[ordinal] = value.lengthEncoded();
}
