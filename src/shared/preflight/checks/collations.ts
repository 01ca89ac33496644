/** The target knows every character set and collation that the tables use. */
import { parseShowCreate, blankQuoted } from "../../columns/show-create.js";
import type { TableDefinition } from "../../columns/table-definition.js";
import type { Check } from "../check.js";
import { failure } from "../finding.js";
import type { ServerFacts } from "../server-facts.js";
import { atLeast, versionName } from "../server-version.js";

export const collations: Check = {
  name: "collations",
  run({ tables, target }) {
    if (target === null) return [];
    // By collation: one old name in a hundred columns is one finding.
    const users = new Map<string, string[]>();
    for (const { definition } of tables) {
      if (definition === null) continue;
      for (const [where, collation] of collationsOf(definition)) if (!knows(target, collation)) users.set(collation, [...(users.get(collation) ?? []), where]);
    }
    return [...users].map(([collation, where]) =>
      failure("collation-missing", `${target.name}: ${versionName(target.version)} does not know the collation ${collation} of ${listed(where)}`, "change them on the source to a collation that both servers know: ALTER TABLE … CONVERT TO CHARACTER SET … COLLATE …; or leave the tables out"),
    );
  },
};

function collationsOf(definition: TableDefinition): [where: string, collation: string][] {
  const name = `${definition.schema}.${definition.table}`;
  const found = definition.columns.flatMap((column): [string, string][] => (column.collation === null ? [] : [[`${name}.${column.name}`, column.collation]]));
  const ofTable = / COLLATE[= ](\w+)/.exec(blankQuoted(parseShowCreate(definition.createStatement).tail))?.[1];
  return ofTable === undefined ? found : [...found, [`the table ${name}`, ofTable]];
}

function knows(target: ServerFacts, collation: string): boolean {
  if (target.collations.has(collation)) return true;
  // Newer servers call it utf8mb3_… and still take the old name.
  const renamed = collation.replace(/^utf8_/, "utf8mb3_");
  return target.collations.has(renamed) && (target.version.flavor === "mariadb" || atLeast(target.version, 8, 0, 30));
}

const MOST_LISTED = 5;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_LISTED).join(", ");
  return names.length > MOST_LISTED ? `${shown} and ${names.length - MOST_LISTED} more` : shown;
}
