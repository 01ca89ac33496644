/** Tables without a usable key, where the spec allows them: they are small enough, and can be followed. */
import { whyNoKey } from "../../columns/choose-key.js";
import { qualified, sql } from "../../mysql/bytes.js";
import { NO_KEY_BYTES, NO_KEY_ROWS, allowsNoKey, noKeyObstacle } from "../../selection/no-key.js";
import { nameOf } from "../../selection/selected-table.js";
import type { Check } from "../check.js";
import type { PlannedTable, PreflightContext } from "../context.js";
import { failure, warning, type Finding } from "../finding.js";

export const noKey: Check = {
  name: "tables without a key",
  async run(context) {
    const findings: Finding[] = [];
    for (const table of context.tables)
      if (table.definition !== null && table.definition.key === null && allowsNoKey(context.spec, table.source)) findings.push(...(await findingsOf(context, table)));
    return findings;
  },
};

async function findingsOf(context: PreflightContext, { source: name, where, definition }: PlannedTable): Promise<Finding[]> {
  const { source, spec, onSource } = context;
  if (source === null || definition === null) return [];
  const cure = `give ${nameOf(name)} a primary key, or leave it out`;
  const obstacle = noKeyObstacle(spec, where, source.version.flavor === "mariadb");
  if (obstacle !== null) return [failure("no-key", `${source.name}: ${whyNoKey(definition)}; ${obstacle}`, cure)];
  // A refusal to count is told by the check of grants; the copy itself looks again.
  const rows = await onSource((session) => session.rows(sql`SELECT COUNT(*) AS n FROM (SELECT 1 FROM ${qualified(name.schema, name.table)} LIMIT ${NO_KEY_ROWS + 1}) AS counted`));
  const count = Number(rows[0]?.["n"] ?? 0);
  const bytes = count * definition.rowBytesEstimated;
  if (count > NO_KEY_ROWS || bytes > NO_KEY_BYTES)
    return [failure("no-key-size", `${source.name}: ${nameOf(name)} has no key and ${count > NO_KEY_ROWS ? `more than ${NO_KEY_ROWS} rows` : `about ${Math.round(bytes / 2 ** 20)} MiB`}: without a key it is read at once, which ends at ${NO_KEY_ROWS} rows and ${NO_KEY_BYTES / 2 ** 20} MiB`, cure)];
  return [warning("no-key", `${source.name}: ${whyNoKey(definition)}: it is copied in one piece, each of its changes is looked up in the whole table, and a diff of it names no rows and cannot be repaired`, cure)];
}
