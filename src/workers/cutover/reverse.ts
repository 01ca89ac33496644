/**
 * The migration back: from the new source to the old one, from the position where Drover's last write on the target ended.
 *
 * There is no loop: what Drover wrote on the target lies before that position, and the migration there has ended. What the
 * migration back writes on the old source is read by nobody.
 */
import { parseMigrationSpec, type MigrationSpec, type MigrationSpecInput } from "../../shared/contracts/spec.js";
import type { MigrationTable } from "../../shared/state/tables.js";

export function reverseSpec(id: string, spec: MigrationSpec, tables: readonly MigrationTable[], startPosition: string): { input: MigrationSpecInput; spec: MigrationSpec } {
  const { batchRows, batchBytes, batchTime, backlogBytes, ddl } = spec.options;
  const keyless = tables.some((table) => table.definition.key === null);
  // They were dropped there when this migration ended (`steps.ts`), and go back with the application.
  const triggers = spec.objects.includes("triggers");
  const input: MigrationSpecInput = {
    id, source: spec.target, target: spec.source, mode: "follow", startPosition,
    // One by one: the target's schemas may hold tables that are none of this migration's.
    tables: tables.map(({ source, target }) => ({ schema: target.schema, table: target.table, targetSchema: source.schema, targetTable: source.table })),
    ...(triggers ? { objects: ["triggers" as const] } : {}),
    options: { ...(triggers ? { definer: spec.options.definer } : {}), batchRows, batchBytes, batchTime, backlogBytes, ddl, ...(keyless ? { allowNoKey: true } : {}) },
  };
  return { input, spec: parseMigrationSpec(input) };
}
