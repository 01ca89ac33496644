/** Whether anybody else acts on the target's tables, and whether the application will be able to. */
import type { ByteSql } from "../../shared/mysql/bytes.js";
import { listObjects } from "../../shared/objects/read-objects.js";
import type { TableName } from "../../shared/columns/table-definition.js";
import { failure, warning, type Finding } from "../../shared/preflight/finding.js";
import type { ServerFacts } from "../../shared/preflight/server-facts.js";
import { actingEvents } from "./acting-events.js";
import type { CheckScope } from "./check-scope.js";
import { administratorFindings } from "./read-only-checks.js";
import { readSwitches } from "./read-only.js";

export async function targetFindings(scope: CheckScope): Promise<Finding[]> {
  const { context, ref, migration, tables, preflight, signal } = scope;
  const { target } = preflight;
  if (target === null) return [];
  const { name } = target;
  const findings: Finding[] = [];
  const schemas = new Set(tables.map((table) => table.target.schema));
  // Of a migration back the target is the server that the application has left: it must change by Drover's writes alone.
  if (migration.spec.mode === "follow") findings.push(...(await otherWriters(scope, target)));
  findings.push(...unseenFindings(target, tables.map((table) => table.target)));
  await context.connections.use(ref.target, "target", signal, async (session) => {
    const switches = await readSwitches(session);
    if (switches.superReadOnly === true) findings.push(failure("target-read-only", `${name}: super_read_only is ON`, `on ${name} run: SET GLOBAL super_read_only=OFF;`));
    else if (switches.readOnly) findings.push(warning("target-read-only", `${name}: read_only is ON: the application could not write there`, `after the cut-over run there: SET GLOBAL read_only=OFF;`));
    const ours = new Set((await context.state.objects.list(session, ref.migration)).map((object) => JSON.stringify([object.kind, object.schema, object.name])));
    for (const schema of schemas) {
      const own = new Set(tables.filter((table) => table.target.schema === schema).map((table) => table.target.table));
      const triggers = (await listObjects(session, schema, ["trigger"])).filter((trigger) => own.has(trigger.table ?? "") && !ours.has(JSON.stringify([trigger.kind, trigger.schema, trigger.name])));
      for (const trigger of triggers) findings.push(failure("target-trigger", `${name}: the target table ${schema}.${trigger.table} has the trigger ${trigger.name}, which acts on what Drover writes`, 'drop it, compare (drover diff start), and let the cut-over create it: "objects": ["triggers"]'));
    }
    if (target.variables.get("event_scheduler")?.toUpperCase() === "ON")
      for (const event of await actingEvents(session, schemas))
        findings.push(failure("target-event", `${name}: the event ${event} acts on the target already`, `disable it until the cut-over is done: ALTER EVENT … DISABLE`));
    const users = new Map<string, number>();
    for (const row of await session.rows("SHOW PROCESSLIST" as ByteSql)) {
      const user = row["User"] ?? "";
      if (schemas.has(row["db"] ?? "") && user !== "event_scheduler" && !target.account.startsWith(`'${user}'@`)) users.set(user, (users.get(user) ?? 0) + 1);
    }
    if (users.size > 0) findings.push(warning("target-sessions", `${name}: others are connected to the target schemas: ${[...users].map(([user, n]) => `${user} (${n})`).join(", ")}`, `see that none of them writes before the cut-over of ${migration.id} is done`));
  });
  return findings;
}

/** Rows that others write on the target part from the source's; a diff would show them. */
async function otherWriters(scope: CheckScope, target: ServerFacts): Promise<Finding[]> {
  const { context, ref, migration, signal } = scope;
  const { readOnly, superReadOnly } = await context.connections.use(ref.target, "target", signal, readSwitches);
  if (superReadOnly === true) return [];
  if (readOnly) return await administratorFindings(scope, target, ref.target);
  return [
    warning(
      "target-writable", `${target.name}: read_only is OFF: what others write there since the migration began is not on ${migration.spec.source}`,
      `compare (drover diff start ${migration.id} --wait), and keep others out until the cut-over is done: SET GLOBAL read_only=ON;`,
    ),
  ];
}

/** What a server hides rather than refuse it is told, and not taken for absent. */
function unseenFindings({ name, account, privileges, variables }: ServerFacts, tables: readonly TableName[]): Finding[] {
  const unseen = (what: string, privilege: string, on: string) =>
    warning("target-unseen", `${name}: ${what} cannot be seen: the user ${account} has no ${privilege}`, `look yourself, or on ${name} run: GRANT ${privilege} ON ${on} TO ${account};`);
  const findings: Finding[] = [];
  const hidden = tables.filter(({ schema, table }) => !privileges.has("TRIGGER", { schema, table })).length;
  if (hidden > 0) findings.push(unseen(`triggers of ${hidden} tables`, "TRIGGER", "their schemas (`…`.*)"));
  const eventless = variables.get("event_scheduler")?.toUpperCase() !== "ON" ? [] : [...new Set(tables.map(({ schema }) => schema))].filter((schema) => !privileges.has("EVENT", { schema }));
  if (eventless.length > 0) findings.push(unseen(`events of ${eventless.join(", ")}`, "EVENT", "these schemas (`…`.*)"));
  if (!privileges.has("PROCESS", "global")) findings.push(unseen("sessions of other users", "PROCESS", "*.*"));
  return findings;
}
