/** What a statement changes in the state, in the transaction that moves the fence behind it. */
import type { TableDefinition, TableName } from "../../shared/columns/table-definition.js";
import { DroverError } from "../../shared/errors.js";
import { sameKey } from "../../shared/keys/same-key.js";
import type { Session } from "../../shared/mysql/session.js";
import type { SelectedTable } from "../../shared/selection/selected-table.js";
import { DiffState } from "../../shared/state/diff-state.js";
import type { State } from "../../shared/state/state.js";
import type { SourceTable } from "../planner/source-table.js";
import { addTable } from "./joined-table.js";
import { isMoved, type TargetPlan } from "./target-plan.js";

export interface JoiningTable extends SourceTable {
  selected: SelectedTable;
}

export interface PlanResult {
  plan: TargetPlan;
  /** Of changed and created tables, by their target's name in the plan. */
  definitions: ReadonlyMap<TableName, TableDefinition>;
  joining: readonly JoiningTable[];
}

/** The caller holds the fence's exclusive lock and has checked it. */
export async function recordPlan(state: State, session: Session, migration: string, { plan, definitions, joining }: PlanResult): Promise<void> {
  await state.ddlJournal.remove(session, migration);
  for (const table of plan.removed) {
    await state.chunks.removeTable(session, migration, table.number);
    await state.tables.remove(session, migration, table.number);
  }
  const moved = plan.changed.filter((changed) => isMoved(changed)).map((changed) => changed.target);
  if (moved.length > 0) await state.claims.claim(session, migration, moved);
  for (const { table, source, target, where } of plan.changed) {
    const definition = definitions.get(target);
    if (definition === undefined) throw new DroverError("BUG", `no definition of ${target.schema}.${target.table} was read`);
    await state.tables.put(session, migration, { ...table, source, target, where, definition });
    if (!sameKey(table.definition, definition)) await new DiffState(state.schema).keyAltered(session, migration, table.number);
  }
  if (plan.created !== null) {
    const definition = definitions.get(plan.created.target);
    if (definition === undefined) throw new DroverError("BUG", "no definition of a created table was read");
    await addTable(state, session, migration, { selected: plan.created, definition, startPosition: "", phase: "copied" });
  }
  for (const { table, source, target, where } of plan.restarted) {
    await state.chunks.removeTable(session, migration, table.number);
    if (isMoved({ table, target })) {
      // What stands under the new name is not ours to drop: it is taken as `existingTarget` says.
      await state.tables.remove(session, migration, table.number);
      await addTable(state, session, migration, { selected: { source, target, where }, definition: table.definition, startPosition: table.startPosition, phase: "pending" });
      continue;
    }
    await state.tables.put(session, migration, { ...table, source, target, where });
    await state.tables.startOver(session, migration, table.number);
  }
  for (const { selected, definition, startPosition } of joining) await addTable(state, session, migration, { selected, definition, startPosition, phase: "pending" });
  if (plan.restarted.length === 0 && joining.length === 0) return;
  // These tables are copied; the others stay as they are, and what was cut behind the statement is void.
  await state.migrations.changePhase(session, migration, ["catching-up", "streaming"], "copying");
  await state.fence.bumpEpoch(session, migration);
}
