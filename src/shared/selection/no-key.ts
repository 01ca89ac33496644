/**
 * Tables without any usable row key (`allowNoKey`): moved as a whole, and only where the spec says so.
 *
 * No row of such a table can be told from another, so nothing of it can be cut, rechecked or repaired by key. It is read by one
 * consistent SELECT into bounded memory, and its events are carried out one by one, each on one row that equals the old image.
 */
import { whyNoKey } from "../columns/choose-key.js";
import type { TableDefinition, TableName } from "../columns/table-definition.js";
import type { MigrationSpec } from "../contracts/spec.js";

/** The most rows and bytes of a table without a key: what one SELECT reads and one transaction writes in a second or two. */
export const NO_KEY_ROWS = 100_000;
export const NO_KEY_BYTES = 32 * 1024 * 1024;

/** Whether the spec lets this table of the source go without a key. */
export function allowsNoKey(spec: MigrationSpec, { schema, table }: TableName): boolean {
  return spec.options.allowNoKey || spec.tables.some((selection) => selection.kind === "table" && selection.schema === schema && selection.table === table && selection.allowNoKey);
}

/** Why a table without a key cannot be moved although the spec allows it; null when it can, as far as its definition and the spec tell. */
export function noKeyObstacle(spec: MigrationSpec, where: string | null, sourceIsMariaDb: boolean): string | null {
  if (spec.mode === "copy") return null;
  if (where !== null) return "a filter needs a row key to be followed";
  if (sourceIsMariaDb) return "on MariaDB it can be copied (mode \"copy\"), but not followed: the server does not tell at which position a SELECT read";
  return null;
}

/** Why the table cannot be moved: it has no key, and that is not allowed, or not possible; null when it can. */
export function keyProblem(spec: MigrationSpec, definition: TableDefinition, where: string | null, sourceIsMariaDb: boolean): { message: string; cure: string } | null {
  if (definition.key !== null) return null;
  const why = whyNoKey(definition);
  if (!allowsNoKey(spec, definition)) return { message: why, cure: `add a primary key or a NOT NULL unique key, exclude the table, or set "allowNoKey" if it is small` };
  const obstacle = noKeyObstacle(spec, where, sourceIsMariaDb);
  return obstacle === null ? null : { message: `${why}; ${obstacle}`, cure: "add a primary key or a NOT NULL unique key, or exclude the table" };
}
