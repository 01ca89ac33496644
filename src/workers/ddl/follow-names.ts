/**
 * DDL while the migration is copying: every name that the statement touches is compared with what the source has now.
 *
 * A table that is there starts over, with a start position behind the statement and behind all DDL up to now. One that is gone
 * leaves the migration, its target with it: what a later statement gives to a selected name joins again. So each of
 * these steps may be done twice, and in what state of the source it is done does not matter.
 */
import type { TableName } from "../../shared/columns/table-definition.js";
import { qualified, sql } from "../../shared/mysql/bytes.js";
import { Position } from "../../shared/mysql/position.js";
import type { SelectedTable } from "../../shared/selection/selected-table.js";
import type { Migration } from "../../shared/state/migrations.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import type { EngineContext, MigrationRef } from "../context.js";
import { endOldBuilds } from "../planner/build-indexes.js";
import type { Concerns } from "./concerns.js";
import { keepBuildersOut, withDdlLock } from "../target/ddl-lock.js";
import { addTable } from "./joined-table.js";
import { presentTable } from "../planner/present-table.js";
import { requireTargetPlace } from "../planner/target-place.js";
import type { RenamedTable } from "./renamed-tables.js";
import { restartTable } from "./restart-table.js";
import type { SelectionMap } from "../../shared/selection/selection-map.js";

export interface NamesToFollow {
  migration: Migration;
  /** Of the statement. */
  gtid: string;
  concerns: Concerns;
  renamed: readonly RenamedTable[];
  selection: SelectionMap;
}

/** @returns whether anything changed; `not-due` when the migration is not copying any more */
export async function followNames(context: EngineContext, ref: MigrationRef, names: NamesToFollow, signal: AbortSignal): Promise<"changed" | "unchanged" | "not-due"> {
  let changed = false;
  const { connections, state } = context;
  const now = await connections.use(ref.target, "target", signal, (session) => state.tables.list(session, ref.migration));
  for (const table of names.concerns.tables) {
    // A chunk read was faster than the tail, and the table has started over already.
    const latest = now.find((t) => t.number === table.number);
    if (latest !== undefined && latest.generation !== table.generation && latest.phase !== "pending" && Position.parse(latest.startPosition).contains(names.gtid)) {
      changed = true;
      continue;
    }
    const outcome = await restartTable(context, ref, table.number, signal);
    if (outcome === "not-due") return "not-due";
    if (outcome === "missing" && !(await leave(context, ref, names, table, signal))) return "not-due";
    changed = true;
  }
  for (const name of names.concerns.joining) {
    const selected = names.selection.select(name);
    if (selected === null) continue;
    const outcome = await join(context, ref, names.migration, selected, signal);
    if (outcome === "not-due") return "not-due";
    if (outcome === "joined") changed = true;
  }
  return changed ? "changed" : "unchanged";
}

/** A table whose name is gone on the source. */
async function leave(context: EngineContext, ref: MigrationRef, names: NamesToFollow, table: MigrationTable, signal: AbortSignal): Promise<boolean> {
  // Renamed to a name that the spec does not select, it stays followed under that name.
  const moved = names.renamed.find((r) => r.table?.number === table.number);
  if (moved !== undefined && names.selection.select(moved.to) === null) {
    const outcome = await join(context, ref, names.migration, { source: moved.to, target: names.selection.target(moved.to), where: table.where }, signal);
    if (outcome === "not-due") return false;
  }
  return await removeTable(context, ref, table, signal);
}

/** `absent`: the source has no table of that name; if it had one, the statement that ended it is still to come. */
async function join(context: EngineContext, ref: MigrationRef, migration: Migration, selected: SelectedTable, signal: AbortSignal): Promise<"joined" | "absent" | "not-due"> {
  const { connections, state } = context;
  const found = await presentTable(context, migration.spec.source, selected.source, signal);
  if (found === null) return "absent";
  await requireTargetPlace(context, migration.spec, [selected], await connections.use(ref.target, "target", signal, (session) => state.tables.list(session, ref.migration)), signal);
  const number = await connections.transaction(ref.target, "target", signal, async (session) => {
    await state.fence.require(session, ref.migration, "update");
    const { phase } = await state.migrations.require(session, ref.migration);
    if (phase !== "copying") return null;
    const there = (await state.tables.list(session, ref.migration)).find((t) => sameName(t.source, selected.source));
    return (there ?? (await addTable(state, session, ref.migration, { selected, ...found, phase: "pending" }))).number;
  });
  if (number === null) return "not-due";
  const outcome = await restartTable(context, ref, number, signal);
  // Gone again meanwhile: it stays pending until the tail meets the statement that ended it.
  return outcome === "not-due" ? "not-due" : "joined";
}

/** As the DDL of the source says, the target's table goes too. First all work on it is made void, then it is dropped, then forgotten. */
async function removeTable(context: EngineContext, ref: MigrationRef, table: MigrationTable, signal: AbortSignal): Promise<boolean> {
  const { connections, state } = context;
  const begun = await connections.transaction(ref.target, "target", signal, async (session) => {
    await state.fence.require(session, ref.migration, "update");
    const { phase } = await state.migrations.require(session, ref.migration);
    if (phase !== "copying") return false;
    await state.tables.startOver(session, ref.migration, table.number);
    await state.chunks.removeTable(session, ref.migration, table.number);
    await state.fence.bumpEpoch(session, ref.migration);
    return true;
  });
  if (!begun) return false;
  await endOldBuilds(context, ref, table, signal);
  await withDdlLock(context, ref, signal, async (session) => {
    await keepBuildersOut(context, ref, table.number, session);
    const now = (await state.tables.list(session, ref.migration)).find((t) => t.number === table.number);
    if (now === undefined || now.phase !== "pending") return;
    await session.run(sql`DROP TABLE IF EXISTS ${qualified(table.target.schema, table.target.table)}`);
    await state.tables.remove(session, ref.migration, table.number);
  });
  return true;
}

function sameName(a: TableName, b: TableName): boolean {
  return a.schema === b.schema && a.table === b.table;
}
