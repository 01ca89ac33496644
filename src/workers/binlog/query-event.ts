import type { BinlogStatement } from "./events.js";
import { ByteReader } from "./byte-reader.js";
import { DecodeError } from "./decode-error.js";
import { HEADER_SIZE } from "./event-types.js";

/** Thread id, execution time, length of the schema, error code, length of the status variables. */
const FIXED_SIZE = 13;

/** Codes of the status variables that matter here (`Q_…_CODE`). */
const SQL_MODE = 1;
const CHARSET = 4;
const TIME_ZONE = 5;
const MICROSECONDS = 13;
const EXPLICIT_DEFAULTS = 16;
const UTF8MB4_COLLATION = 18;
/** MariaDB's name for the microseconds. */
const HRNOW = 128;

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
export function decodeQuery(bytes: Buffer, start: number, end: number, extra = 0): Omit<BinlogStatement, "withRows"> {
  const reader = new ByteReader(bytes, start + HEADER_SIZE, end);
  reader.take(8);
  const schemaLength = reader.u8();
  reader.take(2);
  const variablesLength = reader.u16();
  reader.take(extra);
  const at = reader.take(variablesLength);
  const { microseconds, ...settings } = statusVariables(new ByteReader(bytes, at, at + variablesLength));
  const schema = reader.utf8(schemaLength);
  reader.take(1);
  const timestamp = `${bytes.readUInt32LE(start)}.${String(microseconds).padStart(6, "0")}`;
  return { sql: Buffer.from(bytes.subarray(reader.at, end)), schema, timestamp, ...settings };
}

type Settings = Pick<BinlogStatement, "clientCollation" | "connectionCollation" | "serverCollation" | "sqlMode" | "timeZone" | "utf8mb4Collation" | "explicitDefaults"> & { microseconds: number };

/**
 * The session's settings when the statement ran. Servers write the variables in the order of their codes, so what a newer
 * server adds comes last: reading stops at the first unknown one, but not before the charset.
 */
function statusVariables(reader: ByteReader): Settings {
  const settings: Settings = {
    clientCollation: UTF8MB3, connectionCollation: UTF8MB3, serverCollation: 0, sqlMode: 0n, timeZone: null, utf8mb4Collation: null, explicitDefaults: null, microseconds: 0,
  };
  let charsetSeen = false;
  while (reader.left > 0) {
    const code = reader.u8();
    switch (code) {
      case 0: // Q_FLAGS2
      case 3: // Q_AUTO_INCREMENT
      case 10: // Q_MASTER_DATA_WRITTEN
        reader.take(4);
        break;
      case SQL_MODE:
        settings.sqlMode = reader.u64();
        break;
      case 2: // Q_CATALOG, with a terminating zero
        reader.take(reader.u8() + 1);
        break;
      case CHARSET:
        settings.clientCollation = reader.u16();
        settings.connectionCollation = reader.u16();
        settings.serverCollation = reader.u16();
        charsetSeen = true;
        break;
      case TIME_ZONE:
        settings.timeZone = reader.utf8(reader.u8());
        break;
      case 6: // Q_CATALOG_NZ
        reader.take(reader.u8());
        break;
      case 7: // Q_LC_TIME_NAMES
      case 8: // Q_CHARSET_DATABASE
        reader.take(2);
        break;
      case 9: // Q_TABLE_MAP_FOR_UPDATE
      case 17: // Q_DDL_LOGGED_WITH_XID
      case 129: // MariaDB's Q_XID
        reader.take(8);
        break;
      case 11: // Q_INVOKER: user and host
        reader.take(reader.u8());
        reader.take(reader.u8());
        break;
      case 12: // Q_UPDATED_DB_NAMES; 254 stands for too many
        for (let names = reader.u8(), i = 0; names !== 254 && i < names; i++) while (reader.u8() !== 0);
        break;
      case MICROSECONDS:
      case HRNOW:
        settings.microseconds = reader.u8() | (reader.u8() << 8) | (reader.u8() << 16);
        break;
      case EXPLICIT_DEFAULTS:
        settings.explicitDefaults = reader.u8() !== 0;
        break;
      case UTF8MB4_COLLATION:
        settings.utf8mb4Collation = reader.u16();
        break;
      case 19: // Q_SQL_REQUIRE_PRIMARY_KEY
      case 20: // Q_DEFAULT_TABLE_ENCRYPTION
        reader.take(1);
        break;
      default:
        if (charsetSeen) return settings;
        throw new DecodeError(`a statement in the binlog has the unknown status variable ${code}`);
    }
  }
  return settings;
}
