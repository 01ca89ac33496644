/**
 * What a string literal without an introducer means. Sessions run with everything `binary`: such a literal is bytes. Our own
 * statements do not mind, they name a character set wherever it matters. Text that people wrote (DDL, filters) means text.
 *
 * Only `character_set_connection` changes: `character_set_client` must stay binary, for the driver follows it and would encode
 * statements anew, and `character_set_results` too, for cells to stay bytes.
 */
import type { ByteSql } from "../mysql/bytes.js";

/** Run before a statement with people's text in it. */
export const TEXT_LITERALS = "SET SESSION character_set_connection=utf8mb4" as ByteSql;
/** Run after it: back to what `openSession` sets. */
export const BYTE_LITERALS = "SET SESSION character_set_connection=binary" as ByteSql;
