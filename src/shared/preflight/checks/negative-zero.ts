/** MariaDB makes the FLOAT or DOUBLE -0 a 0, whichever way it is told, and gives no warning (measured on 10.11). */
import type { Check } from "../check.js";
import { warning } from "../finding.js";

const FLOATING = new Set(["float", "double"]);

export const negativeZero: Check = {
  name: "columns that may hold -0",
  run({ source, target, tables }) {
    if (source?.version.flavor !== "mysql" || target?.version.flavor !== "mariadb") return [];
    return tables.flatMap(({ definition }) => {
      const columns = definition?.columns.filter((column) => column.generated === null && FLOATING.has(column.dataType)) ?? [];
      if (definition === null || columns.length === 0) return [];
      return [warning(
        "negative-zero",
        `${target.name} is MariaDB, which stores -0 as 0: ${definition.schema}.${definition.table} has FLOAT or DOUBLE columns (${columns.map((column) => column.name).join(", ")}), and a diff shows each row that holds -0`,
        "both are equal in SQL; where the sign matters, move to MySQL, or keep it in another column",
      )];
    });
  },
};
