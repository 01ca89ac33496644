/** The columns of a table's row key, with all that statements need of them. */
import { DroverError } from "../errors.js";
import { columnType, type ColumnType } from "../columns/column-types.js";
import { whyNoKey } from "../columns/choose-key.js";
import { copiedColumns, type ColumnDefinition, type TableDefinition } from "../columns/table-definition.js";
import { identifier, type ByteSql } from "../mysql/bytes.js";

export interface KeyColumn {
  column: ColumnDefinition;
  /** The quoted name. */
  name: ByteSql;
  type: ColumnType;
  /** A cell (latin1 bytes) as a literal in the column's own order. */
  bound: (cell: string) => ByteSql;
  descending: boolean;
  /** Which cell of a full text row it is. */
  cell: number;
}

export interface Key {
  index: ByteSql;
  columns: KeyColumn[];
}

const KEYS = new WeakMap<TableDefinition, Key>();

/**
 * The row key of a definition, prepared once per definition.
 * @throws DroverError STATEMENT_REFUSED when the table has no usable row key
 */
export function keyOfTable(definition: TableDefinition): Key {
  let key = KEYS.get(definition);
  if (key === undefined) KEYS.set(definition, (key = prepare(definition)));
  return key;
}

function prepare(definition: TableDefinition): Key {
  if (definition.key === null) throw new DroverError("STATEMENT_REFUSED", whyNoKey(definition), { cure: "add a primary key or a NOT NULL unique key" });
  const { index, columns } = definition.key;
  const parts = definition.indexes.find((i) => i.name === index)?.parts ?? [];
  const copied = copiedColumns(definition);
  return {
    index: identifier(index),
    columns: columns.map((name) => {
      const cell = copied.findIndex((c) => c.name === name);
      const column = copied[cell];
      const type = column && columnType(definition, column);
      if (!type?.bound) throw new DroverError("BUG", `${definition.schema}.${definition.table}: ${name} cannot be a key column`);
      return { column: column as ColumnDefinition, name: identifier(name), type, bound: type.bound, cell, descending: parts.some((p) => p.column === name && p.descending === true) };
    }),
  };
}
