/** What of a table the target's CREATE TABLE cannot say; above all between MySQL and MariaDB. A target table that was made by hand counts instead. */
import { obstacles } from "../../columns/create-dialect.js";
import { lostMembers } from "../../columns/lost-members.js";
import type { Check } from "../check.js";
import { failure } from "../finding.js";

export const families: Check = {
  name: "definitions on the target",
  run({ source, target, tables, spec }) {
    if (target === null) return [];
    return tables.flatMap(({ definition, existing }) => {
      const stays = existing !== null && existing.kind !== "missing" && spec.options.existingTarget !== "replace";
      if (definition === null || stays) return [];
      const lost = lostMembers(definition);
      const untold = lost === null ? [] : [failure("column-members", `${source?.name ?? spec.source}: ${lost.message}`, lost.cure ?? "")];
      return [...untold, ...obstacles(definition, target.version.flavor).map(({ code, message, cure }) => failure(code, `${target.name}: ${message}`, cure))];
    });
  },
};
