/**
 * Triggers of the old source, when it is to follow the new one: they would act once more on rows that they have made already. Those
 * that the new source has by now are dropped where they were, behind the point of no return; the cut-over of the migration back
 * carries them there again.
 */
import type { Session } from "../../shared/mysql/session.js";
import { listObjects } from "../../shared/objects/read-objects.js";
import type { CarriedObject } from "../../shared/state/objects.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import { dropStatement } from "../objects/object-creator.js";

export interface OldTrigger {
  schema: string;
  name: string;
  table: string;
}

/** Triggers on the moved tables where they came from. */
export async function oldTriggers(source: Session, tables: readonly MigrationTable[]): Promise<OldTrigger[]> {
  const found: OldTrigger[] = [];
  for (const schema of new Set(tables.map((table) => table.source.schema))) {
    const moved = new Set(tables.filter((table) => table.source.schema === schema).map((table) => table.source.table));
    found.push(...(await listObjects(source, schema, ["trigger"])).filter((trigger) => moved.has(trigger.table ?? "")).map(({ name, table }) => ({ schema, name, table: table ?? "" })));
  }
  return found;
}

/** Those of them that were created on the target. */
export function carriedTriggers(triggers: readonly OldTrigger[], tables: readonly MigrationTable[], carried: readonly CarriedObject[]): OldTrigger[] {
  const there = new Set(carried.filter((object) => object.kind === "trigger" && object.created).map(({ schema, name }) => JSON.stringify([schema, name])));
  return triggers.filter(({ schema, table, name }) => {
    const moved = tables.find((one) => one.source.schema === schema && one.source.table === table);
    return moved !== undefined && there.has(JSON.stringify([moved.target.schema, name]));
  });
}

/** May be done twice. */
export async function dropOldTriggers(source: Session, triggers: readonly OldTrigger[]): Promise<void> {
  for (const { schema, name } of triggers) await source.run(dropStatement({ kind: "trigger", schema, name }));
}
