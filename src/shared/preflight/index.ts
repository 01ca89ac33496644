/**
 * Preflight: everything that would stop a migration, or surprise after it, told before anything is touched. All at once, each
 * with its cure. Only reads: nothing changes on either server.
 */
import { DroverError } from "../errors.js";
import type { Check } from "./check.js";
import { readContext, type PreflightContext, type PreflightOptions } from "./context.js";
import { binlogFilters } from "./checks/binlog-filters.js";
import { binlogRetention } from "./checks/binlog-retention.js";
import { binlogSettings } from "./checks/binlog-settings.js";
import { collations } from "./checks/collations.js";
import { connections } from "./checks/connections.js";
import { families } from "./checks/families.js";
import { foreignKeys } from "./checks/foreign-keys.js";
import { negativeZero } from "./checks/negative-zero.js";
import { noKey } from "./checks/no-key.js";
import { objectGrants } from "./checks/object-grants.js";
import { objects } from "./checks/objects.js";
import { pairSettings } from "./checks/pair-settings.js";
import { rowFilters } from "./checks/row-filters.js";
import { selection } from "./checks/selection.js";
import { sourceGrants } from "./checks/source-grants.js";
import { startPosition } from "./checks/start-position.js";
import { state } from "./checks/state.js";
import { tableShapes } from "./checks/table-shapes.js";
import { targetGrants } from "./checks/target-grants.js";
import { targetPlace } from "./checks/target-place.js";
import { targetTables } from "./checks/target-tables.js";
import { targetWritable } from "./checks/target-writable.js";
import { preparedTransactions } from "./checks/prepared-transactions.js";
import { versions } from "./checks/versions.js";
import { checkFailed, type Finding } from "./finding.js";

export type { PreflightOptions } from "./context.js";
export { blocking, type Finding } from "./finding.js";

/** In the order in which their findings are shown: what must be cured first comes first. */
const CHECKS: readonly Check[] = [
  connections, versions,
  sourceGrants, targetGrants,
  binlogSettings, binlogRetention, binlogFilters, startPosition, preparedTransactions,
  selection, tableShapes, noKey, families, negativeZero, rowFilters, foreignKeys,
  objectGrants, objects,
  state, targetPlace, targetTables, targetWritable, collations, pairSettings,
];

/**
 * All findings. Callers block on errors only (`blocking`).
 * @throws DroverError ABORTED, or CONNECTION_LOST when a server went away in the middle
 */
export async function runPreflight(options: PreflightOptions): Promise<Finding[]> {
  const context = await readContext(options);
  const findings = await Promise.all(CHECKS.map((check) => runCheck(check, context)));
  return [...context.unread, ...findings.flat()];
}

/** A question that a server refuses is a finding too. */
async function runCheck(check: Check, context: PreflightContext): Promise<Finding[]> {
  try {
    return await check.run(context);
  } catch (error) {
    if (!(error instanceof DroverError) || error.kind === "aborted" || error.code === "CONNECTION_LOST") throw error;
    return [checkFailed(check.name, error)];
  }
}
