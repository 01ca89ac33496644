/** Mode `follow` begins with the tables of now at a position of then: of one that was dropped or renamed in between nobody would tell the target. */
import { foldedName, type TableName } from "../../shared/columns/table-definition.js";
import { DroverError } from "../../shared/errors.js";
import { sql, textLiteral, type ByteSql } from "../../shared/mysql/bytes.js";
import { SelectionMap } from "../../shared/selection/selection-map.js";
import type { Migration } from "../../shared/state/migrations.js";
import type { EngineContext, MigrationRef } from "../context.js";

export function notFollowed({ schema, table }: TableName, what: string): DroverError {
  return new DroverError("DDL_UNSUPPORTED", `${schema}.${table} is selected and was not there under this name when the migration began, but ${what} behind "startPosition"`, {
    cure: "it was dropped or renamed on the source since that position: do the same on the target, and begin at a position behind it; or leave the table out (exclude)",
  });
}

/**
 * Tells of a table that is not followed whether its changes must not pass unseen: the spec selects it, and the target has it. What the target does not
 * have came and went since then, or is a sequence, whose numbers MariaDB writes as rows.
 * @param ignoreCase of the source
 */
export async function readMissed(context: EngineContext, ref: MigrationRef, { spec }: Migration, ignoreCase: boolean, signal: AbortSignal): Promise<(name: TableName) => boolean> {
  if (spec.mode !== "follow" || spec.options.ddl === "ignore") return () => false;
  const schemas = [...new Set(spec.tables.map((table) => table.targetSchema))].map(textLiteral).join(",") as ByteSql;
  const rows = await context.connections.use(ref.target, "target", signal, (session) =>
    session.rows(sql`SELECT TABLE_SCHEMA AS ts, TABLE_NAME AS tn FROM information_schema.TABLES WHERE TABLE_TYPE='BASE TABLE' AND TABLE_SCHEMA IN (${schemas})`));
  const there = new Set(rows.map((row) => foldedName({ schema: row["ts"] ?? "", table: row["tn"] ?? "" })));
  const selection = new SelectionMap(spec, ignoreCase);
  return (name) => {
    const selected = selection.select(name);
    return selected !== null && there.has(foldedName(selected.target));
  };
}
