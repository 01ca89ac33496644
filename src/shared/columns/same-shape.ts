/** Whether an existing target table can take an exact copy of a source table. */
import type { Problem } from "../errors.js";
import type { ColumnDefinition, IndexDefinition, TableDefinition } from "./table-definition.js";

/**
 * Every difference that would change values, lose rows or refuse them; empty when there is none. The order of the columns,
 * defaults, comments and further non-unique indexes do not matter: rows are written by column name, with every value.
 */
export function sameShape(source: TableDefinition, target: TableDefinition): Problem[] {
  const name = `${target.schema}.${target.table}`;
  const problems: Problem[] = [];
  const problem = (code: string, message: string) =>
    problems.push({ code, message: `${name}: ${message}`, cure: "change the target table to the source's definition, or let Drover replace it (existingTarget: replace)" });

  for (const column of source.columns) {
    const other = target.columns.find((c) => c.name.toLowerCase() === column.name.toLowerCase());
    if (other === undefined) {
      // A generated column's value follows from the others: nothing is lost.
      if (column.generated === null) problem("target-column-missing", `column ${column.name} is missing`);
      continue;
    }
    for (const difference of columnDifferences(column, other)) problem("target-column-differs", `column ${column.name} ${difference}`);
  }
  for (const column of target.columns) {
    if (column.generated === null && !source.columns.some((c) => c.name.toLowerCase() === column.name.toLowerCase()))
      problem("target-column-extra", `column ${column.name} is not in the source: REPLACE would reset it to its default`);
  }
  if (!sameNames(source.key?.columns, target.key?.columns))
    problem("target-key-differs", `its row key is ${keyText(target)}, the source's is ${keyText(source)}`);
  for (const index of target.indexes) {
    if (index.unique && !source.indexes.some((other) => other.unique && sameParts(index, other)))
      problem("target-unique-extra", `the unique index ${index.name} is not in the source: it would push out rows that the source has`);
  }
  return problems;
}

function columnDifferences(source: ColumnDefinition, target: ColumnDefinition): string[] {
  const differences: string[] = [];
  if ((source.generated === null) !== (target.generated === null)) return [target.generated === null ? "is not generated" : "is generated, in the source it is not"];
  // MariaDB's JSON is text with a check.
  if (isJsonText(source, target) || isJsonText(target, source)) return [];
  if (plainType(source) !== plainType(target)) differences.push(`is ${target.columnType}, in the source ${source.columnType}`);
  if (plainCollation(source.charset) !== plainCollation(target.charset)) differences.push(`has the character set ${target.charset}, in the source ${source.charset}`);
  else if (plainCollation(source.collation) !== plainCollation(target.collation)) differences.push(`has the collation ${target.collation}, in the source ${source.collation}`);
  if (source.nullable && !target.nullable && source.generated === null) differences.push("is NOT NULL, in the source it may be NULL");
  return differences;
}

function isJsonText(json: ColumnDefinition, text: ColumnDefinition): boolean {
  return json.dataType === "json" && text.dataType === "longtext" && text.charset === "utf8mb4" && text.collation === "utf8mb4_bin";
}

/** The type without what versions write differently and values do not depend on: display widths, MariaDB's JSON. */
function plainType(column: ColumnDefinition): string {
  if (/^(enum|set)$/.test(column.dataType)) return column.columnType;
  let type = column.columnType.toLowerCase().replace(/\s+/g, " ").replace(/^geomcollection\b/, "geometrycollection");
  // MariaDB's COMPRESSED is about the disk.
  type = type.replace(/ \/\*m!\d+ compressed\*\//, "");
  if (/zerofill/.test(type)) type = type.replace(" zerofill", "");
  return type.replace(/^((?:tiny|small|medium|big)?int|year)\(\d+\)/, "$1");
}

/** `utf8_bin` and `utf8mb3_bin` are one collation, `utf8` and `utf8mb3` one character set. */
function plainCollation(name: string | null): string | null {
  return name === null ? null : name.replace(/^utf8(?=_|$)/, "utf8mb3");
}

function sameParts(a: IndexDefinition, b: IndexDefinition): boolean {
  return a.parts.length === b.parts.length && a.parts.every((part, i) => part.column?.toLowerCase() === b.parts[i]?.column?.toLowerCase() && part.prefix === b.parts[i]?.prefix);
}

function sameNames(a: readonly string[] | undefined, b: readonly string[] | undefined): boolean {
  return (a ?? []).join("\0").toLowerCase() === (b ?? []).join("\0").toLowerCase();
}

function keyText(table: TableDefinition): string {
  return table.key === null ? "none" : `(${table.key.columns.join(", ")})`;
}
