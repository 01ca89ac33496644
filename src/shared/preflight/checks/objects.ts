/** The objects that are asked for can be carried: their names, definers, what stands in their places, settings that the target knows. */
import { bytesLiteral, sql, textLiteral, utf8Sql, type ByteSql } from "../../mysql/bytes.js";
import { DroverError } from "../../errors.js";
import { objectLabel, type Account } from "../../objects/database-object.js";
import { knownCollation } from "../../objects/object-settings.js";
import { kindsOf, planObjects, selectObjects, type ObjectPlan, type ObjectScope, type PlannedObject } from "../../objects/plan-objects.js";
import { listObjects, readObjects } from "../../objects/read-objects.js";
import { sameObject } from "../../objects/same-object.js";
import type { Check } from "../check.js";
import type { PreflightContext } from "../context.js";
import { failure, warning, type Finding } from "../finding.js";
import { isOn, type ServerFacts } from "../server-facts.js";
import { setVariable } from "../set-variable.js";

export const objects: Check = {
  name: "objects",
  async run(context) {
    const { source, target, spec } = context;
    if (source === null) return [];
    const scope: ObjectScope = { spec, tables: context.tables, kinds: kindsOf(spec.objects), ignoreCase: source.ignoreCase };
    const findings = await leftBehind(context, scope);
    if (spec.objects.length === 0) return findings;
    const plan = await context.onSource(async (session) => {
      const result = await planObjects(session, scope);
      session.destroy();
      return result;
    });
    findings.push(...plan.problems.map((problem) => failure(problem.code, `${source.name}: ${problem.message}`, problem.cure)));
    if (target === null) return findings;
    findings.push(...settings(plan, target), ...unsafeFunctions(plan, target), ...(await definers(context, plan, target)), ...(await timeZones(context, plan, target)));
    // A migration that has begun finds its own.
    if (!context.state.started && spec.options.existingTarget !== "replace") findings.push(...(await inTheWay(context, plan, target)));
    return findings;
  },
};

/** Kinds that are there and were not asked for; of views the check of the selection tells. */
async function leftBehind({ spec, onSource, source }: PreflightContext, scope: ObjectScope): Promise<Finding[]> {
  const others = (["triggers", "routines", "events"] as const).filter((kind) => !spec.objects.includes(kind));
  const there = (await onSource((session) => selectObjects(session, { ...scope, kinds: kindsOf(others) }))).filter((object) => object.schema !== "sys");
  const counts = others.map((kind) => ({ kind, count: there.filter((object) => kindsOf([kind]).includes(object.kind)).length })).filter(({ count }) => count > 0);
  if (counts.length === 0) return [];
  const list = counts.map(({ kind, count }) => `${count} ${count === 1 ? kind.slice(0, -1) : kind}`).join(", ");
  return [warning("objects-left", `${source?.name}: ${list} will not be carried`, `add "objects": [${counts.map(({ kind }) => `"${kind}"`).join(", ")}] to the spec, or create them on the target by hand`)];
}

function settings(plan: ObjectPlan, target: ServerFacts): Finding[] {
  return plan.objects.flatMap(({ object }) => {
    try {
      for (const collation of [object.collation, object.databaseCollation]) if (collation !== null) knownCollation(object, collation, target.collations);
      return [];
    } catch (error) {
      if (!(error instanceof DroverError)) throw error;
      return [failure("object-collation", `${target.name}: ${error.message}`, error.cure ?? "")];
    }
  });
}

/** Error 1418: whoever creates it. */
function unsafeFunctions(plan: ObjectPlan, target: ServerFacts): Finding[] {
  if (!isOn(target.variables.get("log_bin")) || isOn(target.variables.get("log_bin_trust_function_creators"))) return [];
  const unsafe = plan.objects.filter(({ object }) => object.kind === "function" && !/\b(?:DETERMINISTIC|NO SQL|READS SQL DATA)\b/.test(object.text.replace(/\bNOT DETERMINISTIC\b/g, "")));
  if (unsafe.length === 0) return [];
  return [failure("trust-function-creators", `${target.name}: log_bin_trust_function_creators is OFF, and ${unsafe.length === 1 ? `the ${objectLabel((unsafe[0] as PlannedObject).object)} does` : `${unsafe.length} functions do`} not say that it is deterministic or only reads`, setVariable(target, "log_bin_trust_function_creators", "ON"))];
}

/** An account that is not there would make the objects fail when they are used. */
async function definers(context: PreflightContext, plan: ObjectPlan, target: ServerFacts): Promise<Finding[]> {
  const wanted = new Map<string, { account: Account; objects: PlannedObject[] }>();
  for (const planned of plan.objects) {
    if (planned.definer === null) continue;
    const name = accountText(planned.definer);
    const entry = wanted.get(name) ?? { account: planned.definer, objects: [] };
    entry.objects.push(planned);
    wanted.set(name, entry);
  }
  if (wanted.size === 0) return [];
  if (!target.privileges.has("SELECT", { schema: "mysql", table: "user" })) {
    const others = [...wanted.keys()].filter((name) => name !== target.account);
    if (others.length === 0) return [];
    return [warning("definer-unchecked", `${target.name}: whether the accounts ${others.join(", ")}, which objects run as, exist there cannot be seen`, `see that they do (SHOW CREATE USER), or on ${target.name} run: GRANT SELECT ON mysql.user TO ${target.account};`)];
  }
  const findings: Finding[] = [];
  for (const [name, entry] of wanted) {
    const { user, host } = entry.account;
    const rows = await context.onTarget((session) => session.rows(sql`SELECT 1 AS found FROM mysql.user WHERE User=${bytesLiteral(utf8Sql(user))} AND Host=${bytesLiteral(utf8Sql(host ?? ""))}`));
    if (rows.length > 0) continue;
    const first = objectLabel((entry.objects[0] as PlannedObject).object);
    const what = entry.objects.length === 1 ? `the ${first} runs` : `${entry.objects.length} objects (the ${first} is one) run`;
    findings.push(failure("definer-missing", `${target.name}: ${what} as ${name}, and there is no such account`, `create the account there, or set options.definer to "current" (${target.account}) or to another account`));
  }
  return findings;
}

function accountText({ user, host }: Account): string {
  const quote = (text: string) => `'${text.replaceAll("'", "''")}'`;
  return host === null ? quote(user) : `${quote(user)}@${quote(host)}`;
}

/** An event's times are those of its zone; SYSTEM is another one on another system. */
async function timeZones(context: PreflightContext, plan: ObjectPlan, target: ServerFacts): Promise<Finding[]> {
  const findings: Finding[] = [];
  const events = plan.objects.filter(({ object }) => object.kind === "event");
  for (const zone of new Set(events.map(({ object }) => object.timeZone ?? "SYSTEM"))) {
    const ask = `SELECT ${DATES.map((date, i) => `CONVERT_TZ('${date}','+00:00',${textLiteral(zone)}) AS t${i}`).join(", ")}` as ByteSql;
    const [[theirs], [ours]] = await Promise.all([context.onSource((session) => session.rows(ask)), context.onTarget((session) => session.rows(ask))]);
    const concerned = events.filter(({ object }) => (object.timeZone ?? "SYSTEM") === zone).map(({ object }) => objectLabel(object));
    if (Object.values(ours ?? {}).includes(null)) findings.push(failure("event-time-zone", `${target.name}: the time zone ${zone} of the ${concerned[0]} is not known`, `load the time zones there: mysql_tzinfo_to_sql /usr/share/zoneinfo | mysql mysql`));
    else if (JSON.stringify(theirs) !== JSON.stringify(ours)) findings.push(failure("event-time-zone", `${target.name}: the time zone ${zone} of the ${concerned[0]} is another one than on ${context.source?.name}`, "on the source give the event a zone of its own: SET time_zone='+00:00' (or a named zone), then ALTER EVENT … ON SCHEDULE …"));
  }
  return findings;
}

const DATES = [1990, 2020, 2030].flatMap((year) => [`${year}-01-15 12:00:00`, `${year}-07-15 12:00:00`]);

/** Objects of these names that are there already. */
async function inTheWay(context: PreflightContext, plan: ObjectPlan, target: ServerFacts): Promise<Finding[]> {
  const kinds = [...new Set(plan.objects.map(({ object }) => object.kind))];
  return await context.onTarget(async (session) => {
    const findings: Finding[] = [];
    for (const schema of new Set(plan.objects.map((planned) => planned.schema))) {
      const there = await listObjects(session, schema, kinds);
      for (const planned of plan.objects.filter((p) => p.schema === schema)) {
        const listed = there.find((object) => object.kind === planned.object.kind && object.name === planned.object.name);
        if (listed === undefined) continue;
        const [found] = await readObjects(session, [listed]);
        if (found !== undefined && sameObject(found, planned)) continue;
        findings.push(failure("object-exists", `${target.name}: there is another ${objectLabel({ ...planned.object, schema })}`, 'drop it, or set options.existingTarget to "replace"'));
      }
    }
    session.destroy();
    return findings;
  });
}
