/** The tables that the source has now: what the next statements may speak of. */
import type { Connection, RowDataPacket } from "mysql2/promise";

export interface CatalogColumn {
  name: string;
  /** As `information_schema` has it: `varchar`, `int`, … */
  dataType: string;
  /** The same with length, members, sign. */
  columnType: string;
  charset: string | null;
  collation: string | null;
  nullable: boolean;
  generated: boolean;
  autoIncrement: boolean;
}

export interface CatalogIndex {
  name: string;
  unique: boolean;
  /** Null for an expression. */
  columns: (string | null)[];
}

export interface CatalogTable {
  name: string;
  columns: CatalogColumn[];
  indexes: CatalogIndex[];
  /** Columns of the primary key. */
  key: CatalogColumn[];
  /** Names. */
  foreignKeys: string[];
  checks: string[];
  partitions: string[];
}

export async function readCatalog(db: Connection, schema: string): Promise<CatalogTable[]> {
  const rowsOf = async (statement: string) => (await db.query<RowDataPacket[]>(statement, [schema]))[0];
  const columns = await rowsOf(
    `SELECT TABLE_NAME AS t, COLUMN_NAME AS name, DATA_TYPE AS data_type, CAST(COLUMN_TYPE AS CHAR) AS column_type, CHARACTER_SET_NAME AS charset, COLLATION_NAME AS collation, IS_NULLABLE AS nullable, EXTRA AS extra
     FROM information_schema.COLUMNS JOIN information_schema.TABLES USING (TABLE_SCHEMA, TABLE_NAME)
     WHERE TABLE_SCHEMA=? AND TABLE_TYPE='BASE TABLE' ORDER BY TABLE_NAME, ORDINAL_POSITION`);
  const parts = await rowsOf("SELECT TABLE_NAME AS t, INDEX_NAME AS name, NON_UNIQUE AS other, COLUMN_NAME AS part FROM information_schema.STATISTICS WHERE TABLE_SCHEMA=? ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX");
  const constraints = await rowsOf("SELECT TABLE_NAME AS t, CONSTRAINT_NAME AS name, CONSTRAINT_TYPE AS kind FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA=? AND CONSTRAINT_TYPE IN ('FOREIGN KEY', 'CHECK') ORDER BY 1, 2");
  const partitions = await rowsOf("SELECT TABLE_NAME AS t, PARTITION_NAME AS name FROM information_schema.PARTITIONS WHERE TABLE_SCHEMA=? AND PARTITION_NAME IS NOT NULL ORDER BY 1, PARTITION_ORDINAL_POSITION");
  const tables = new Map<string, CatalogTable>();
  for (const row of columns) {
    const name = String(row["t"]);
    const table = tables.get(name) ?? { name, columns: [], indexes: [], key: [], foreignKeys: [], checks: [], partitions: [] };
    tables.set(name, table);
    const extra = String(row["extra"]);
    table.columns.push({
      name: String(row["name"]), dataType: String(row["data_type"]).toLowerCase(), columnType: String(row["column_type"]), charset: row["charset"] as string | null, collation: row["collation"] as string | null,
      nullable: row["nullable"] === "YES", generated: /(STORED|VIRTUAL) GENERATED/.test(extra), autoIncrement: /auto_increment/i.test(extra),
    });
  }
  for (const row of parts) {
    const table = tables.get(String(row["t"]));
    const name = String(row["name"]);
    const known = table?.indexes.find((i) => i.name === name);
    const index: CatalogIndex = known ?? { name, unique: Number(row["other"]) === 0, columns: [] };
    if (known === undefined) table?.indexes.push(index);
    index.columns.push(row["part"] as string | null);
  }
  for (const row of constraints) {
    const table = tables.get(String(row["t"]));
    (row["kind"] === "CHECK" ? table?.checks : table?.foreignKeys)?.push(String(row["name"]));
  }
  for (const row of partitions) tables.get(String(row["t"]))?.partitions.push(String(row["name"]));
  for (const table of tables.values()) {
    const primary = table.indexes.find((index) => index.name === "PRIMARY");
    table.key = (primary?.columns ?? []).flatMap((name) => table.columns.filter((column) => column.name === name));
  }
  return [...tables.values()];
}

export function quoted(name: string): string {
  return `\`${name.replaceAll("`", "``")}\``;
}
