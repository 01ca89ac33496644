/** What a cut-over needs beside the grants of a migration (`grants.ts`); what each is for stands in docs/grants.md. */
import type { MigrationSpec } from "../contracts/spec.js";
import { SOURCE_GLOBAL, STATE_SCHEMA, TARGET_SCHEMA, grantGlobal, grantOnSchema, type GrantStatements, type GrantUsers } from "./grants.js";

/** Setting `read_only`, writing while it is on, creating for others. MySQL 5.7 has SUPER for all of them; its check says so. */
const PRIVILEGES = {
  mysql: { set: ["SYSTEM_VARIABLES_ADMIN"], write: ["CONNECTION_ADMIN"], definer: "SET_ANY_DEFINER" },
  mariadb: { set: ["READ_ONLY ADMIN"], write: [], definer: "SET USER" },
} as const;
/** To see what else acts on the tables; without them a cut-over says that it cannot see it. */
const SEEN_ON_SCHEMA = ["TRIGGER", "EVENT"] as const;
const SEEN_GLOBALLY = ["PROCESS"] as const;

export interface CutoverGrantOptions extends Required<GrantUsers> {
  stateSchema: string;
  /** A migration back, too: each user then does what the other one does. */
  reverse: boolean;
}

/** For `cutover --read-only`. */
export function cutoverGrants(spec: MigrationSpec, options: CutoverGrantOptions): GrantStatements {
  const { sourceAccount, targetAccount, literalSchemaNames: literal, mariaDb, stateSchema, reverse } = options;
  const { set, write, definer } = PRIVILEGES[mariaDb.source ? "mariadb" : "mysql"];
  const ofTarget = PRIVILEGES[mariaDb.target ? "mariadb" : "mysql"];
  const sources = [...new Set(spec.tables.map((selection) => selection.schema))];
  const targets = [...new Set(spec.tables.map((selection) => selection.targetSchema))];
  const source = [grantGlobal([...set, ...(reverse ? [...write, ...SEEN_GLOBALLY] : [])], sourceAccount)];
  const target = [grantGlobal(reverse ? [...ofTarget.set, ...SEEN_GLOBALLY, ...SOURCE_GLOBAL] : SEEN_GLOBALLY, targetAccount), ...targets.map((schema) => grantOnSchema(SEEN_ON_SCHEMA, schema, targetAccount, literal.target))];
  if (reverse) {
    source.push(...sources.map((schema) => grantOnSchema([...TARGET_SCHEMA, ...SEEN_ON_SCHEMA], schema, sourceAccount, literal.source)), grantOnSchema(STATE_SCHEMA, stateSchema, sourceAccount, literal.source));
    if (spec.objects.includes("triggers") && spec.options.definer !== "current") source.push(grantGlobal([definer], sourceAccount));
  }
  return { source, target };
}
