import type { BinlogStatement } from "./events.js";
import { ByteReader } from "./byte-reader.js";
import { DecodeError } from "./decode-error.js";
import { HEADER_SIZE } from "./event-types.js";

/** Thread id, execution time, length of the schema, error code, length of the status variables. */
const FIXED_SIZE = 13;

/** Codes of the status variables (`Q_…_CODE`), and how long the ones before the charset are. */
const SQL_MODE = 1;
const CHARSET = 4;

/** `utf8mb3_general_ci`: what a statement is taken for that does not say its charset (no such server is known). */
const UTF8MB3 = 33;

/** Where the statement's text begins in the Query event at `start`. */
export function sqlOffset(bytes: Buffer, start: number): number {
  const fixed = start + HEADER_SIZE;
  const schemaLength = bytes[fixed + 8] as number;
  const variablesLength = (bytes[fixed + 11] as number) | ((bytes[fixed + 12] as number) << 8);
  return fixed + FIXED_SIZE + variablesLength + schemaLength + 1;
}

/** Decodes a Query event; `extra` is the length of further fixed fields (EXECUTE_LOAD_QUERY has 13). The text is a copy. */
export function decodeQuery(bytes: Buffer, start: number, end: number, extra = 0): BinlogStatement {
  const reader = new ByteReader(bytes, start + HEADER_SIZE, end);
  reader.take(8);
  const schemaLength = reader.u8();
  reader.take(2);
  const variablesLength = reader.u16();
  reader.take(extra);
  const at = reader.take(variablesLength);
  const settings = statusVariables(new ByteReader(bytes, at, at + variablesLength));
  const schema = reader.utf8(schemaLength);
  reader.take(1);
  return { sql: Buffer.from(bytes.subarray(reader.at, end)), schema, ...settings };
}

/**
 * The two settings that matter for reading the statement. Servers write the variables in the order of their codes
 * except for a few late ones, so all that can stand before these two is known; reading stops behind the charset.
 */
function statusVariables(reader: ByteReader): Pick<BinlogStatement, "clientCollation" | "sqlMode"> {
  let sqlMode = 0n;
  while (reader.left > 0) {
    const code = reader.u8();
    switch (code) {
      case 0: // Q_FLAGS2
      case 3: // Q_AUTO_INCREMENT
      case 10: // Q_MASTER_DATA_WRITTEN
        reader.take(4);
        break;
      case SQL_MODE:
        sqlMode = reader.u64();
        break;
      case 2: // Q_CATALOG, with a terminating zero
        reader.take(reader.u8() + 1);
        break;
      case CHARSET:
        return { clientCollation: reader.u16(), sqlMode };
      case 5: // Q_TIME_ZONE
      case 6: // Q_CATALOG_NZ
        reader.take(reader.u8());
        break;
      case 7: // Q_LC_TIME_NAMES
      case 8: // Q_CHARSET_DATABASE
        reader.take(2);
        break;
      case 9: // Q_TABLE_MAP_FOR_UPDATE
        reader.take(8);
        break;
      default:
        throw new DecodeError(`a statement in the binlog has the unknown status variable ${code}`);
    }
  }
  return { clientCollation: UTF8MB3, sqlMode };
}
