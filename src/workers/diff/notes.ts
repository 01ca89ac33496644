/** Exceptions of the comparison by bytes, named in the report of a table that has such columns. */
import { copiedColumns, type TableDefinition } from "../../shared/columns/table-definition.js";

export function comparisonNotes(definition: TableDefinition): string[] {
  const named = (types: readonly string[]) =>
    copiedColumns(definition)
      .filter((column) => types.includes(column.dataType))
      .map((column) => column.name)
      .join(", ");
  const generated = definition.columns.filter((column) => column.generated !== null).map((column) => column.name);
  const json = named(["json"]);
  const float = named(["float", "double"]);
  return [
    ...(definition.key === null ? ["no row key: compared as a whole; differing rows are counted, not named, and cannot be repaired; unequal with more than 200,000 different rows it is inconclusive"] : []),
    ...(json === "" ? [] : [`JSON (${json}): compared by the server's text of the document; servers of different kinds may write the same document differently`]),
    ...(float === "" ? [] : [`FLOAT and DOUBLE (${float}): compared by the shortest text of the stored double, which tells every two values apart except NaN payloads`]),
    ...(generated.length === 0 ? [] : [`generated columns (${generated.join(", ")}) are computed by each server and not compared`]),
  ];
}
