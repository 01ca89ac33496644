/** Both servers are of a version that Drover knows. */
import type { Check } from "../check.js";
import { failure, warning, type Finding } from "../finding.js";
import type { ServerFacts } from "../server-facts.js";
import { atLeast, versionName } from "../server-version.js";

export const versions: Check = {
  name: "versions",
  run({ source, target }) {
    const findings: Finding[] = [];
    for (const server of [source, target]) if (server !== null) findings.push(...versionFindings(server));
    if (source !== null && target !== null) findings.push(...pairFindings(source, target));
    return findings;
  },
};

function versionFindings({ name, version }: ServerFacts): Finding[] {
  const known = version.flavor === "mysql" ? atLeast(version, 5, 7) : atLeast(version, 10, 6);
  if (!known) return [failure("server-version", `${name} is ${versionName(version)} (${version.text}), which Drover does not know`, "use MySQL 5.7 or newer, or MariaDB 10.6 or newer")];
  const newest = version.flavor === "mysql" ? 9 : 12;
  if (version.major > newest) return [warning("server-version-new", `${name} is ${versionName(version)}, newer than the versions that Drover was made for`, "try the migration on a copy first, and compare with a diff")];
  return [];
}

function pairFindings(source: ServerFacts, target: ServerFacts): Finding[] {
  const names = `${source.name} is ${versionName(source.version)}, ${target.name} is ${versionName(target.version)}`;
  if (source.version.flavor !== target.version.flavor)
    return [warning("server-flavors", `${names}: table definitions may have clauses that the other one does not know`, "create the target tables by hand where their creation fails, and set existingTarget to resume")];
  if (!atLeast(target.version, source.version.major, source.version.minor))
    return [warning("target-older", `${names}: table definitions may have clauses that the older one does not know`, "create the target tables by hand where their creation fails, and set existingTarget to resume")];
  return [];
}
