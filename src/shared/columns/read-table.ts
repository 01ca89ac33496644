/**
 * Reads a table's definition from a server. The queries are not one snapshot: the caller compares positions before and
 * after (design §4, step 1).
 */
import { identifier, sql, textLiteral, type ByteSql } from "../mysql/bytes.js";
import type { Session, TextRecord } from "../mysql/session.js";
import { chooseKey } from "./choose-key.js";
import { exactCreateStatement } from "./exact-create.js";
import type { ColumnDefinition, IndexDefinition, TableDefinition } from "./table-definition.js";

/**
 * What the server must show: generated invisible primary keys, quoted names, statistics of now instead of yesterday's.
 * Version comments keep each setting from servers that do not know it; MariaDB skips comments of MySQL 5.7 and later.
 */
const SHOW_ALL =
  "SET SESSION sql_quote_show_create=1 /*!80000 , SESSION information_schema_stats_expiry=0 */ /*!80030 , SESSION show_gipk_in_create_table_and_information_schema=1 */" as ByteSql;

/** The base tables of a schema, by name. */
export async function listTables(session: Session, schema: string): Promise<string[]> {
  const rows = await session.rows(
    sql`SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA=${textLiteral(schema)} AND TABLE_TYPE='BASE TABLE' ORDER BY TABLE_NAME`,
  );
  return rows.map((row) => row["name"] as string);
}

/**
 * The definition of a base table; null when there is none of that name (a view is none).
 * @throws DroverError UNDECODABLE for a column type that Drover does not know
 */
export async function readTableDefinition(session: Session, schema: string, table: string): Promise<TableDefinition | null> {
  await session.run(SHOW_ALL);
  const here = sql`TABLE_SCHEMA=${textLiteral(schema)} AND TABLE_NAME=${textLiteral(table)}`;
  const [facts] = await session.rows(
    sql`SELECT ENGINE AS engine, TABLE_ROWS AS row_count, AVG_ROW_LENGTH AS row_bytes FROM information_schema.TABLES WHERE ${here} AND TABLE_TYPE='BASE TABLE'`,
  );
  if (facts === undefined) return null;
  const columns = (
    await session.rows(sql`SELECT COLUMN_NAME AS name, DATA_TYPE AS data_type, COLUMN_TYPE AS column_type, CHARACTER_SET_NAME AS charset,
      COLLATION_NAME AS collation, IS_NULLABLE AS nullable, EXTRA AS extra FROM information_schema.COLUMNS WHERE ${here} ORDER BY ORDINAL_POSITION`)
  ).map(columnOf);
  const indexes = indexesOf(await session.rows(sql`SHOW INDEX FROM ${identifier(table)} FROM ${identifier(schema)}`));
  const createStatement = await exactCreateStatement(session, schema, table);
  if (createStatement === null) return null;
  return {
    ...(session.isMariaDb ? { family: "mariadb" as const } : {}),
    schema, table, columns, indexes, createStatement,
    engine: facts["engine"] ?? "",
    key: chooseKey({ schema, table, columns, indexes }),
    rowsEstimated: Number(facts["row_count"] ?? 0),
    rowBytesEstimated: Number(facts["row_bytes"] ?? 0),
  };
}

/** SHOW CREATE TABLE's statement as it stands in a definition; null for a view. @throws DroverError STATEMENT_REFUSED (1146) when there is nothing of that name */
export async function readCreateStatement(session: Session, schema: string, table: string): Promise<string | null> {
  await session.run(SHOW_ALL);
  return await exactCreateStatement(session, schema, table);
}

function columnOf(row: TextRecord): ColumnDefinition {
  const extra = (row["extra"] ?? "").toUpperCase();
  const columnType = row["column_type"] ?? "";
  return {
    name: row["name"] ?? "",
    dataType: (row["data_type"] ?? "").toLowerCase(),
    columnType,
    charset: row["charset"] ?? null,
    collation: row["collation"] ?? null,
    nullable: row["nullable"] === "YES",
    unsigned: /\bunsigned\b/i.test(columnType) && !/^(enum|set)\(/i.test(columnType),
    // MariaDB says PERSISTENT in older versions. DEFAULT_GENERATED is an ordinary column with an expression as its default.
    generated: /\b(STORED|PERSISTENT) GENERATED\b|^PERSISTENT$/.test(extra) ? "stored" : /\bVIRTUAL\b/.test(extra) ? "virtual" : null,
    invisible: /\bINVISIBLE\b/.test(extra),
    autoIncrement: /\bAUTO_INCREMENT\b/.test(extra),
  };
}

/** `SHOW INDEX` lists the parts in the server's order of indexes, which information_schema does not tell on every version. */
function indexesOf(rows: readonly TextRecord[]): IndexDefinition[] {
  const indexes = new Map<string, IndexDefinition>();
  for (const row of rows) {
    const name = row["Key_name"] ?? "";
    let index = indexes.get(name);
    if (index === undefined) {
      index = { name, unique: row["Non_unique"] === "0", parts: [], kind: row["Index_type"] === "BTREE" ? "btree" : "other" };
      if (row["Visible"] === "NO" || row["Ignored"] === "YES") index.invisible = true;
      indexes.set(name, index);
    }
    const prefix = row["Sub_part"] ?? null;
    index.parts.push({
      column: row["Column_name"] ?? null,
      prefix: prefix === null ? null : Number(prefix),
      ...(row["Collation"] === "D" ? { descending: true } : {}),
    });
  }
  return [...indexes.values()];
}

