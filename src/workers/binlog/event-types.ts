/** Event type codes of MySQL's binlog (`Log_event_type`) and of MariaDB's own range from 160. */
export const EVENT = {
  QUERY: 2,
  STOP: 3,
  ROTATE: 4,
  INTVAR: 5,
  SLAVE: 7,
  APPEND_BLOCK: 9,
  DELETE_FILE: 11,
  RAND: 13,
  USER_VAR: 14,
  FORMAT_DESCRIPTION: 15,
  XID: 16,
  BEGIN_LOAD_QUERY: 17,
  EXECUTE_LOAD_QUERY: 18,
  TABLE_MAP: 19,
  WRITE_ROWS_V1: 23,
  UPDATE_ROWS_V1: 24,
  DELETE_ROWS_V1: 25,
  INCIDENT: 26,
  HEARTBEAT: 27,
  IGNORABLE: 28,
  ROWS_QUERY: 29,
  WRITE_ROWS: 30,
  UPDATE_ROWS: 31,
  DELETE_ROWS: 32,
  GTID: 33,
  ANONYMOUS_GTID: 34,
  PREVIOUS_GTIDS: 35,
  TRANSACTION_CONTEXT: 36,
  VIEW_CHANGE: 37,
  XA_PREPARE: 38,
  PARTIAL_UPDATE_ROWS: 39,
  TRANSACTION_PAYLOAD: 40,
  HEARTBEAT_V2: 41,
  GTID_TAGGED: 42,
  MARIADB_ANNOTATE_ROWS: 160,
  MARIADB_BINLOG_CHECKPOINT: 161,
  MARIADB_GTID: 162,
  MARIADB_GTID_LIST: 163,
  MARIADB_START_ENCRYPTION: 164,
  MARIADB_QUERY_COMPRESSED: 165,
  MARIADB_WRITE_ROWS_COMPRESSED_V1: 166,
  MARIADB_UPDATE_ROWS_COMPRESSED_V1: 167,
  MARIADB_DELETE_ROWS_COMPRESSED_V1: 168,
  MARIADB_WRITE_ROWS_COMPRESSED: 169,
  MARIADB_UPDATE_ROWS_COMPRESSED: 170,
  MARIADB_DELETE_ROWS_COMPRESSED: 171,
} as const;

/** Bytes of the header that every event has since MySQL 5.0: timestamp, type, server id, size, end position, flags. */
export const HEADER_SIZE = 19;

/** Set on events that a reader who does not know their type may skip. */
export const IGNORABLE_FLAG = 0x80;

/** The type's name for messages, or its number. */
export function eventName(type: number): string {
  const name = Object.entries(EVENT).find(([, code]) => code === type)?.[0];
  return name === undefined ? `event type ${type}` : `${name} event`;
}
