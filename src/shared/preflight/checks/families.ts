/** Between MySQL and MariaDB: what of the tables the target's family does not have. A target table that was made by hand counts instead. */
import { obstacles } from "../../columns/create-dialect.js";
import type { Check } from "../check.js";
import { failure } from "../finding.js";

export const families: Check = {
  name: "definitions in the other family's words",
  run({ target, tables, spec }) {
    if (target === null) return [];
    return tables.flatMap(({ definition, existing }) => {
      const stays = existing !== null && existing.kind !== "missing" && spec.options.existingTarget !== "replace";
      if (definition === null || stays) return [];
      return obstacles(definition, target.version.flavor).map(({ code, message, cure }) => failure(code, `${target.name}: ${message}`, cure));
    });
  },
};
