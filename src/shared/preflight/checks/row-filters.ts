/** Every `where` is one expression that both servers understand alike. */
import type { TableDefinition } from "../../columns/table-definition.js";
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
  if (context.target !== null && findings.length === 0) findings.push(...(await refusal(context.onTarget, context.target.name, table, columnsAlone(definition, table.target.table), where)));
  return findings;
}

/** The target table may not exist yet: a row of NULLs under its columns' names shows names and functions as well. */
function columnsAlone(definition: TableDefinition, table: string): ByteSql {
  const columns = definition.columns.map((column) => sql`NULL AS ${identifier(column.name)}`).join(", ") as ByteSql;
  return sql`(SELECT ${columns}) AS ${identifier(table)}`;
}

async function refusal(use: PreflightContext["onSource"], server: string, table: PlannedTable, from: ByteSql, where: string): Promise<Finding[]> {
  try {
    await use((session) => explain(session, sql`EXPLAIN SELECT 1 FROM ${from} WHERE (\n${utf8Sql(where)}\n)`));
    return [];
  } catch (error) {
    if (!(error instanceof DroverError) || error.code !== "STATEMENT_REFUSED") throw error;
    return [failure("where", `${server} does not accept the "where" of ${nameOf(table.source)}: ${withoutServer(error, server)}`, `correct it: one condition over the columns of ${nameOf(table.source)}, named without schema and table`)];
  }
}

async function explain(session: Session, statement: ByteSql): Promise<void> {
  await session.run(FILTER_NAMES);
  await session.rows(statement);
  await session.run(BINARY_NAMES);
}

function withoutServer(error: DroverError, server: string): string {
  return error.message.startsWith(`${server}: `) ? error.message.slice(server.length + 2) : error.message;
}
