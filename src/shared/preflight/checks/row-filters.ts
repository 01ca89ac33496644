/** Every `where` is one expression that both servers understand alike. */
import type { ColumnDefinition } from "../../columns/table-definition.js";
import { DroverError } from "../../errors.js";
import { FILTER_NAMES, BINARY_NAMES } from "../../keys/chunk-select.js";
import { identifier, qualified, sql, utf8Sql, type ByteSql } from "../../mysql/bytes.js";
import type { Session } from "../../mysql/session.js";
import { filterObstacle } from "../../selection/filter-shape.js";
import { nameOf } from "../../selection/selected-table.js";
import type { Check } from "../check.js";
import type { PlannedTable, PreflightContext } from "../context.js";
import { failure, type Finding } from "../finding.js";

export const rowFilters: Check = {
  name: "row filters",
  async run(context) {
    const findings: Finding[] = [];
    for (const selection of context.spec.tables) {
      if (selection.kind !== "table" || selection.where === null) continue;
      const obstacle = filterObstacle(selection.where);
      if (obstacle !== null) findings.push(failure("where", `the "where" of ${nameOf(selection)} ${obstacle.what}`, obstacle.cure));
    }
    for (const table of context.tables) findings.push(...(await understood(context, table)));
    return findings;
  },
};

/** Asks the servers; a filter of a wrong shape is never sent. */
async function understood(context: PreflightContext, table: PlannedTable): Promise<Finding[]> {
  const { where, definition } = table;
  if (where === null || definition === null || filterObstacle(where) !== null) return [];
  const findings: Finding[] = [];
  if (context.source?.privileges.has("SELECT", table.source) === true)
    findings.push(...(await refusal(context.onSource, context.source.name, table, qualified(table.source.schema, table.source.table), where)));
  const rows = targetRows(table);
  if (context.target !== null && rows !== null && findings.length === 0) findings.push(...(await refusal(context.onTarget, context.target.name, table, rows, where)));
  return findings;
}

/** The target table itself, or a row of NULLs under its columns' names and types: enough to see names and functions by. */
function targetRows({ definition, target, existing }: PlannedTable): ByteSql | null {
  if (existing?.definition != null) return qualified(target.schema, target.table);
  if (definition === null) return null;
  const columns = definition.columns.map((column) => sql`${typedNull(column)} AS ${identifier(column.name)}`).join(", ") as ByteSql;
  return sql`(SELECT ${columns}) AS ${identifier(target.table)}`;
}

/** A bare NULL is binary, which functions over text refuse. */
function typedNull(column: ColumnDefinition): ByteSql {
  const { charset, collation } = column;
  if (charset !== null && collation !== null) return `CONVERT(NULL USING ${charset}) COLLATE ${collation}` as ByteSql;
  const cast = CASTS.find(([types]) => types.test(column.dataType))?.[1];
  return (cast === undefined ? "NULL" : cast) as ByteSql;
}

const CASTS: readonly (readonly [RegExp, string])[] = [
  [/int$|^bit$|^year$/, "CAST(NULL AS SIGNED)"],
  [/^decimal$/, "CAST(NULL AS DECIMAL(65,30))"],
  [/^(float|double)$/, "(NULL+0e0)"],
  [/^date$/, "CAST(NULL AS DATE)"],
  [/^time$/, "CAST(NULL AS TIME(6))"],
  [/^(datetime|timestamp)$/, "CAST(NULL AS DATETIME(6))"],
];

async function refusal(use: PreflightContext["onSource"], server: string, table: PlannedTable, from: ByteSql, where: string): Promise<Finding[]> {
  try {
    await use((session) => explain(session, sql`EXPLAIN SELECT 1 FROM ${from} WHERE (\n${utf8Sql(where)}\n)`));
    return [];
  } catch (error) {
    if (!(error instanceof DroverError) || error.code !== "STATEMENT_REFUSED") throw error;
    // A character set or collation that the target does not know: the check of collations says so.
    if (error.errno === 1115 || error.errno === 1273) return [];
    return [failure("where", `${server} does not accept the "where" of ${nameOf(table.source)}: ${reason(error, server)}`, `correct it: one condition over the columns of ${nameOf(table.source)}, named without schema and table`)];
  }
}

async function explain(session: Session, statement: ByteSql): Promise<void> {
  await session.run(FILTER_NAMES);
  await session.rows(statement);
  await session.run(BINARY_NAMES);
}

function reason(error: DroverError, server: string): string {
  // Without a default schema an unknown function is looked for among the stored ones, and "No database selected" is said.
  if (error.errno === 1046) return "it calls a function that the server does not have";
  return error.message.startsWith(`${server}: `) ? error.message.slice(server.length + 2) : error.message;
}
