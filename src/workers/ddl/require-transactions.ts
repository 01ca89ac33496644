/** Rows of a table without transactions would be written whatever becomes of the fence: `check` refuses such tables, DDL must not bring them. */
import type { TableDefinition } from "../../shared/columns/table-definition.js";
import { DroverError } from "../../shared/errors.js";

/**
 * @param since for people: `since transaction …`
 * @throws DroverError DDL_UNSUPPORTED
 */
export function requireTransactions({ schema, table, engine }: TableDefinition, server: string, since: string): void {
  if (engine.toUpperCase() === "INNODB") return;
  throw new DroverError("DDL_UNSUPPORTED", `${server}: the table ${schema}.${table} has the engine ${engine || "(none)"} ${since}, which has no transactions`, {
    cure: `run ALTER TABLE … ENGINE=InnoDB of it on the source, and start the migration anew with existingTarget "replace"; or without this table ("exclude")`,
  });
}
