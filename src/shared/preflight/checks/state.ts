/** The state schema is ours, and the migration's id is free or is this very migration. */
import type { Check } from "../check.js";
import { failure } from "../finding.js";

export const state: Check = {
  name: "state schema",
  run({ state: { problem, conflict, taken }, tables, spec, target, stateSchema }) {
    if (problem !== null)
      return [failure(problem.code === "STATE_VERSION" ? "state-version" : "state-unreadable", `${target?.name ?? spec.target}: ${problem.message}`, problem.cure ?? `see what is wrong with the state schema ${stateSchema}, or choose another DROVER_STATE_SCHEMA`)];
    const shared = tables.flatMap(({ target: { schema, table } }) => {
      const owner = taken.owner({ schema, table });
      return owner === null ? [] : [failure("target-taken", `${target?.name ?? spec.target}: ${schema}.${table} is written by the migration "${owner}"`, `stop ${owner} first (drover stop ${owner}), or give the table another target name`)];
    });
    if (!conflict) return shared;
    return [...shared, failure("migration-conflict", `${target?.name ?? spec.target}: the state schema ${stateSchema} has a migration "${spec.id}" with another spec`, `choose another id, or end the old one: drover stop ${spec.id} and drover remove ${spec.id}`)];
  },
};
