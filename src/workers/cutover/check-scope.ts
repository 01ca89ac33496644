/** What the checks of a cut-over look at. */
import type { CutoverOptions } from "../../shared/contracts/cutover.js";
import type { PreflightContext } from "../../shared/preflight/context.js";
import type { Migration } from "../../shared/state/migrations.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import type { EngineContext, MigrationRef } from "../context.js";

export interface CheckScope {
  context: EngineContext;
  ref: MigrationRef;
  migration: Migration;
  tables: readonly MigrationTable[];
  options: CutoverOptions;
  preflight: PreflightContext;
  signal: AbortSignal;
}
