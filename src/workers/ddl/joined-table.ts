/** A table that joins a migration later: created, or renamed to a name that the spec selects. */
import type { TableDefinition } from "../../shared/columns/table-definition.js";
import type { SelectedTable } from "../../shared/selection/selected-table.js";
import type { Session } from "../../shared/mysql/session.js";
import type { State } from "../../shared/state/state.js";
import type { MigrationTable } from "../../shared/state/tables.js";

/**
 * Numbers of joined tables are made of the fence's epoch, which is bumped with each: the number of a table that has left
 * is never given again, so work of the old one that is still under way cannot meet the new one.
 */
const JOINED_NUMBERS = 1_000_000;
/** Epochs count up from a time in milliseconds, numbers are 32 bits wide; a migration does not bump its epoch a billion times. */
const EPOCHS = 1_000_000_000;

export interface NewTable {
  selected: SelectedTable;
  definition: TableDefinition;
  startPosition: string;
  /** `pending`: its rows are to be copied; `copied`: all of its rows come by the binlog. */
  phase: "pending" | "copied";
}

/**
 * Records the table, inside a transaction that holds the fence's exclusive lock.
 * @throws DroverError PREFLIGHT_FAILED when another migration writes its target
 */
export async function addTable(state: State, session: Session, migration: string, table: NewTable): Promise<MigrationTable> {
  await state.claims.claim(session, migration, [table.selected.target]);
  await state.fence.bumpEpoch(session, migration);
  const { epoch } = await state.fence.require(session, migration);
  const added: MigrationTable = {
    number: JOINED_NUMBERS + (epoch % EPOCHS),
    ...table.selected,
    definition: table.definition, startPosition: table.startPosition, phase: table.phase, planned: table.phase === "copied",
    plannedTo: null, lastKey: null, noKeyMark: null, deferredIndexes: [], overlay: false, generation: 0, copiedPosition: null, rowsEstimated: table.definition.rowsEstimated,
  };
  await state.tables.put(session, migration, added);
  return added;
}
