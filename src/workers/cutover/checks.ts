/** What stands in the way of a cut-over, all at once, each with its cure; and what to know before it. Changes nothing. */
import type { CutoverOptions } from "../../shared/contracts/cutover.js";
import type { MigrationSpec } from "../../shared/contracts/spec.js";
import type { Phase } from "../../shared/contracts/status.js";
import { sleep } from "../../shared/abort.js";
import { proofOf } from "../../shared/diff-proof.js";
import { DroverError } from "../../shared/errors.js";
import { executedPosition } from "../../shared/mysql/position.js";
import { objectGrants } from "../../shared/preflight/checks/object-grants.js";
import { objects } from "../../shared/preflight/checks/objects.js";
import { readContext } from "../../shared/preflight/context.js";
import { checkFailed, failure, warning, type Finding } from "../../shared/preflight/finding.js";
import { blocking, runPreflight } from "../../shared/preflight/index.js";
import { listDiffReports } from "../../shared/state/diff-report.js";
import type { Migration } from "../../shared/state/migrations.js";
import { readStateVersion } from "../../shared/state/schema.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import type { EngineContext, MigrationRef } from "../context.js";
import type { CheckScope } from "./check-scope.js";
import { actingEvents } from "./acting-events.js";
import { lagOf } from "./lag.js";
import { oldTriggers } from "./old-triggers.js";
import { readOnlyFindings } from "./read-only-checks.js";
import { reverseSpec } from "./reverse.js";
import { targetFindings } from "./target-checks.js";

const LAG_LOOKS = 8;
/** milliseconds */
const LAG_PAUSE = 250;

export interface CutoverSubject {
  migration: Migration;
  tables: MigrationTable[];
}

export async function checkCutover(context: EngineContext, ref: MigrationRef, { migration, tables }: CutoverSubject, options: CutoverOptions, signal: AbortSignal): Promise<Finding[]> {
  const { spec } = migration;
  const findings = phaseFindings(migration);
  const preflight = await readContext({ config: context.config, connections: context.connections, spec, stateSchema: context.state.schema, signal });
  for (const [name, error] of preflight.unreachable) findings.push(failure("unreachable", `${name} does not answer: ${error.message}`, "see that it runs and that the connection's settings are right"));
  if (preflight.source === null || preflight.target === null) return findings;
  const scope: CheckScope = { context, ref, migration, tables, options, preflight, signal };
  for (const [name, check] of CHECKS) {
    try {
      findings.push(...(await check(scope)));
    } catch (error) {
      if (!(error instanceof DroverError) || error.kind === "aborted" || error.code === "CONNECTION_LOST") throw error;
      findings.push(checkFailed(name, error));
    }
  }
  return findings;
}

const CHECKS: readonly (readonly [string, (scope: CheckScope) => Finding[] | Promise<Finding[]>])[] = [
  ["lag", lagFindings],
  ["diffs", diffFindings],
  ["read-only", readOnlyFindings],
  ["target", targetFindings],
  ["grants for objects", ({ preflight }) => objectGrants.run(preflight)],
  ["objects", ({ preflight }) => objects.run(preflight)],
  ["the migration back", reverseFindings],
];

const CURES: Record<Phase, string> = {
  planning: "wait for it: drover wait ID --for streaming",
  copying: "wait for it: drover wait ID --for streaming",
  "catching-up": "wait for it: drover wait ID --for streaming",
  streaming: "",
  paused: "drover resume ID",
  failed: "remove the cause, then: drover resume ID",
  stopped: "it has ended for good; start another one",
  completed: "nothing is left to do: it follows no more",
};

function phaseFindings({ id, phase, spec, error }: Migration): Finding[] {
  const findings: Finding[] = [];
  if (phase !== "streaming") findings.push(failure("phase", `migration ${id} is ${phase}, not streaming`, spec.mode === "copy" ? "a migration of mode copy ends by itself" : CURES[phase].replace("ID", id)));
  if (error !== null) findings.push(failure("migration-error", `migration ${id} has an error: ${error.message}`, "wait until it is over, or remove its cause (drover status shows it)"));
  return findings;
}

/**
 * Looked at for a while before it counts: on a quiet source the transaction that was applied last may be old, and then one that was
 * committed a moment ago seems to wait for as long.
 */
async function lagFindings({ context, ref, migration, options, signal }: CheckScope): Promise<Finding[]> {
  const { connections, state } = context;
  let lag: number | null = null;
  for (let look = 0; look < LAG_LOOKS; look++) {
    if (look > 0) await sleep(LAG_PAUSE, signal);
    const source = await connections.use(migration.spec.source, "source", signal, executedPosition);
    const fence = await connections.use(ref.target, "target", signal, (session) => state.fence.read(session, ref.migration));
    lag = lagOf(fence, source, Date.now());
    // Before the first transaction it cannot be told: the cut-over itself waits until everything is applied.
    if (lag === null || lag <= options.maxLag) return [];
  }
  return [failure("lag", `${migration.spec.target} is ${((lag ?? 0) / 1000).toFixed(1)} s behind ${migration.spec.source}, more than ${options.maxLag / 1000} s`, "wait until it has caught up, or allow more by --max-lag")];
}

async function diffFindings({ context, ref, migration, tables, options, signal }: CheckScope): Promise<Finding[]> {
  const [last] = await context.connections.use(ref.target, "target", signal, (session) => listDiffReports(session, context.state.schema, ref.migration, { limit: 1, state: "completed" }));
  const again = `compare once more: drover diff start ${migration.id} --wait`;
  if (last?.hasMismatch === true) return [failure("diff-mismatch", `the last diff (${last.diffId}) found differences`, `drover diff show ${migration.id}, drover diff repair ${migration.id} ${last.diffId}, then ${again}`)];
  if (options.diff) return [];
  if (last === undefined) return [warning("diff-missing", "source and target were not compared yet", `${again}, or cut over with --diff`)];
  const findings: Finding[] = [];
  const cure = `${again}, or cut over with --diff`;
  const proof = proofOf(last, tables.map(({ source }) => `${source.schema}.${source.table}`), Date.now());
  if (proof.tablesLeft > 0) findings.push(warning("diff-partial", `the last diff (${last.diffId}) left out ${proof.tablesLeft} of ${tables.length} tables`, cure));
  if (proof.limited) findings.push(warning("diff-limited", `the last diff (${last.diffId}) looked at a part of the rows only`, cure));
  if (proof.isOld) findings.push(warning("diff-old", `the last diff is ${Math.round(proof.age / 3_600_000)} hours old`, cure));
  if (proof.inconclusive > 0) findings.push(warning("diff-inconclusive", `the last diff could not tell of ${proof.inconclusive} rows, which were changed again and again`, `${again}, at a quieter time`));
  return findings;
}

/** The follow back must be possible before there is something to follow: everything that its own start would say. */
async function reverseFindings({ context, ref, migration, tables, options, preflight, signal }: CheckScope): Promise<Finding[]> {
  if (options.reverse === null) return [];
  const { spec } = migration;
  const findings = await reverseIdFindings(context, migration, options.reverse, signal);
  const filtered = tables.filter((table) => table.where !== null);
  for (const { source } of filtered) findings.push(failure("reverse-filter", `${source.schema}.${source.table} was moved in part (where): the way back could overwrite rows that were left behind`, "cut over without --reverse"));
  if (options.readOnly && preflight.source !== null) {
    const { privileges, name, account } = preflight.source;
    if (!["SUPER", "CONNECTION_ADMIN", "READ_ONLY ADMIN", "READ ONLY ADMIN"].some((privilege) => privileges.has(privilege, "global")))
      findings.push(failure("reverse-read-only", `${name}: the user ${account} could not write there while it is read-only`, `on ${name} run: GRANT CONNECTION_ADMIN ON *.* TO ${account};`));
  }
  if (preflight.source !== null && preflight.source.variables.get("event_scheduler")?.toUpperCase() === "ON") {
    const { privileges, name, account } = preflight.source;
    const hidden = [...new Set(tables.map((table) => table.source.schema))].filter((schema) => !privileges.has("EVENT", { schema }));
    if (hidden.length > 0) findings.push(warning("reverse-events-unseen", `${name}: events of ${hidden.join(", ")}, which would act on what is written back, cannot be seen: the user ${account} has no EVENT`, `on ${name} run: GRANT EVENT ON these schemas (\`…\`.*) TO ${account};`));
  }
  // Also where it is read-only: an event of an administrator writes all the same.
  if (preflight.source?.variables.get("event_scheduler")?.toUpperCase() === "ON") {
    const schemas = new Set(tables.map((table) => table.source.schema));
    const acting = await context.connections.use(spec.source, "source", signal, (session) => actingEvents(session, schemas));
    if (acting.length > 0) findings.push(failure("reverse-events", `${spec.source}: ${acting.length} events act there, and would write rows that ${spec.target} does not have`, `on ${spec.source} run: SET GLOBAL event_scheduler=OFF; they are carried as they are`));
  }
  const position = await context.connections.use(ref.target, "target", signal, executedPosition);
  const back = reverseSpec(options.reverse, spec, tables, position);
  const problems = await runPreflight({ config: context.config, connections: context.connections, spec: back.spec, stateSchema: context.state.schema, signal });
  // The end of this cut-over drops them there.
  const triggers = spec.objects.includes("triggers");
  if (triggers) findings.push(...(await oldTriggerFindings(context, spec, tables, options.reverse, signal)));
  findings.push(...blocking(problems).filter((problem) => !(triggers && problem.code === "target-trigger")).map((problem) => failure(problem.code, `the migration back: ${problem.message}`, problem.code === "target-trigger" ? TRIGGER_CURE : problem.cure)));
  return findings;
}

/** Dropping them by hand changes the application while it still writes there. */
const TRIGGER_CURE = 'leave them there, and cut over without --reverse; or start the migration with "objects": ["triggers"]: its cut-over creates them on the target, and then drops them here';

async function oldTriggerFindings({ connections }: EngineContext, { source, target, options }: MigrationSpec, tables: readonly MigrationTable[], back: string, signal: AbortSignal): Promise<Finding[]> {
  const triggers = await connections.use(source, "source", signal, (session) => oldTriggers(session, tables));
  if (triggers.length === 0) return [];
  const names = triggers.map(({ schema, name }) => `${schema}.${name}`).join(", ");
  return [
    warning(
      "reverse-triggers", `${source}: the triggers ${names} will be dropped there at the end, for they would act on what ${back} writes; ${target} has them by then, and the cut-over of ${back} creates them on ${source} again${options.definer === "keep" ? "" : `, with the definer that options.definer gives (${options.definer})`}`,
      "nothing, or keep their statements (SHOW CREATE TRIGGER)",
    ),
  ];
}

/** Jobs and backlogs go by the id alone, so it must be free on every server; on the old source the preflight of the migration back looks. */
async function reverseIdFindings(context: EngineContext, { id, spec }: Migration, back: string, signal: AbortSignal): Promise<Finding[]> {
  const cure = "choose another id for --reverse";
  if (back === id) return [failure("reverse-id", `the migration back cannot be called ${back} too`, cure)];
  const looks = [...context.config.connections.keys()].filter((name) => name.toUpperCase() !== spec.source.toUpperCase()).map(async (name): Promise<Finding[]> => {
    try {
      const found = await context.connections.use(name, "target", signal, async (session) =>
        (await readStateVersion(session, context.state.schema)) === null ? null : await context.state.migrations.read(session, back),
      );
      // A server may be known under two names.
      return found === null || found.spec.target.toUpperCase() === spec.source.toUpperCase() ? [] : [failure("reverse-id", `${name}: there is a migration ${back} already`, cure)];
    } catch (error) {
      if (signal.aborted || !(error instanceof DroverError)) throw error;
      return [warning("reverse-id-unknown", `${name} cannot be asked whether there is a migration ${back}: ${error.message}`, "see that there is none")];
    }
  });
  return (await Promise.all(looks)).flat();
}
