/** The state schema is ours, and the migration's id is free or is this very migration. */
import type { Check } from "../check.js";
import { failure } from "../finding.js";

export const state: Check = {
  name: "state schema",
  run({ state: { problem, conflict }, spec, target, stateSchema }) {
    if (problem !== null)
      return [failure(problem.code === "STATE_VERSION" ? "state-version" : "state-unreadable", `${target?.name ?? spec.target}: ${problem.message}`, problem.cure ?? `see what is wrong with the state schema ${stateSchema}, or choose another DROVER_STATE_SCHEMA`)];
    if (!conflict) return [];
    return [failure("migration-conflict", `${target?.name ?? spec.target}: the state schema ${stateSchema} has a migration "${spec.id}" with another spec`, `choose another id, or end the old one: drover stop ${spec.id} and drover remove ${spec.id}`)];
  },
};
