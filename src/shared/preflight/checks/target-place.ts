/** Target, source and state schema do not get in each other's way. */
import { sameServer } from "../../mysql/server-identity.js";
import { placeProblems } from "../../selection/target-place.js";
import type { Check } from "../check.js";
import { failure } from "../finding.js";

export const targetPlace: Check = {
  name: "target place",
  run({ source, target, tables, spec, stateSchema }) {
    const same = source !== null && target !== null && sameServer(source.identity, target.identity);
    return placeProblems({ spec, stateSchema, tables, sameServer: same, ignoreCase: source?.ignoreCase ?? false }).map(({ code, message, cure }) => failure(code, message, cure));
  },
};
