/** The select list that gives a table's rows as text rows. */
import { identifier, type ByteSql } from "../mysql/bytes.js";
import { columnType } from "./column-types.js";
import { copiedColumns, type ColumnDefinition, type TableDefinition } from "./table-definition.js";

/** Read expressions of `columns` (default: all copied columns), comma-separated: invisible columns by name, generated ones left out. */
export function selectList(definition: TableDefinition, columns: readonly ColumnDefinition[] = copiedColumns(definition)): ByteSql {
  return columns.map((column) => columnType(definition, column).read(identifier(column.name))).join(",") as ByteSql;
}
