/**
 * The privileges that Drover needs, and the statements that give them. The only list: preflight asks for these, and the docs
 * and the `grants` command print them. What each is for stands in docs/grants.md.
 */
import { identifier, qualified } from "../mysql/bytes.js";
import type { MigrationSpec } from "../contracts/spec.js";
import type { TableName } from "../columns/table-definition.js";
import { nameOf, type SelectedTable } from "../selection/selected-table.js";

export const SOURCE_TABLE = ["SELECT"] as const;
/** For the modes that read the binlog. */
export const SOURCE_GLOBAL = ["REPLICATION SLAVE", "REPLICATION CLIENT"] as const;
export const TARGET_SCHEMA = ["SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "ALTER", "DROP", "INDEX", "REFERENCES"] as const;
export const STATE_SCHEMA = ["SELECT", "INSERT", "UPDATE", "DELETE", "CREATE"] as const;

/** What an object kind needs on the source's schema, so that it is seen, and on the target's. */
export const OBJECT_GRANTS: Record<MigrationSpec["objects"][number], { source: readonly string[]; target: readonly string[] }> = {
  views: { source: ["SELECT", "SHOW VIEW"], target: ["CREATE VIEW", "SHOW VIEW"] },
  routines: { source: [], target: ["CREATE ROUTINE", "ALTER ROUTINE", "EXECUTE"] },
  triggers: { source: ["TRIGGER"], target: ["TRIGGER"] },
  events: { source: ["EVENT"], target: ["EVENT"] },
};

export interface GrantUsers {
  /** Accounts as GRANT wants them; default `'drover'@'%'`. */
  sourceAccount?: string;
  targetAccount?: string;
  /** Servers on which `partial_revokes` is ON: there `_` in a schema's name must not be escaped. */
  literalSchemaNames?: { source: boolean; target: boolean };
  /** Servers that are MariaDB: what carries objects has other names there. */
  mariaDb?: { source: boolean; target: boolean };
}

export interface GrantStatements {
  source: string[];
  target: string[];
}

/**
 * The smallest set of grants for a migration. A schema that the spec selects by pattern is granted as a whole, since its
 * tables of tomorrow match too; a table called by name alone.
 */
export function leastPrivilegeGrants(spec: MigrationSpec, tables: readonly SelectedTable[], stateSchema: string, users: GrantUsers = {}): GrantStatements {
  const { sourceAccount = "'drover'@'%'", targetAccount = "'drover'@'%'", literalSchemaNames = { source: false, target: false }, mariaDb = { source: false, target: false } } = users;
  const source = spec.mode === "copy" ? [] : [grantGlobal(SOURCE_GLOBAL, sourceAccount)];
  const patterns = new Set(spec.tables.filter((selection) => selection.kind === "pattern").map((selection) => selection.schema));
  for (const schema of patterns) source.push(grantOnSchema(SOURCE_TABLE, schema, sourceAccount, literalSchemaNames.source));
  const named = new Map<string, TableName>();
  for (const selection of spec.tables) if (selection.kind === "table") named.set(nameOf(selection), selection);
  for (const table of tables) named.set(nameOf(table.source), table.source);
  for (const table of named.values()) if (!patterns.has(table.schema)) source.push(grantOnTable(SOURCE_TABLE, table, sourceAccount));
  const schemas = new Set(spec.tables.map((selection) => selection.targetSchema));
  const needs = spec.objects.map((kind) => OBJECT_GRANTS[kind]);
  const ofSource = [...new Set(needs.flatMap((need) => need.source))].filter((privilege) => privilege !== "SELECT");
  const ofTarget = [...TARGET_SCHEMA, ...new Set(needs.flatMap((need) => need.target))];
  if (spec.objects.includes("routines")) source.push(grantGlobal([mariaDb.source ? "SELECT" : "SHOW_ROUTINE"], sourceAccount));
  if (ofSource.length > 0) for (const schema of new Set(spec.tables.map((selection) => selection.schema))) source.push(grantOnSchema(ofSource, schema, sourceAccount, literalSchemaNames.source));
  const target = [...schemas].map((schema) => grantOnSchema(ofTarget, schema, targetAccount, literalSchemaNames.target));
  if (spec.objects.length > 0 && spec.options.definer !== "current") target.push(grantGlobal([mariaDb.target ? "SET USER" : "SET_ANY_DEFINER"], targetAccount));
  target.push(grantOnSchema(STATE_SCHEMA, stateSchema, targetAccount, literalSchemaNames.target));
  return { source, target };
}

export function grantGlobal(privileges: readonly string[], account: string): string {
  return `GRANT ${privileges.join(", ")} ON *.* TO ${account};`;
}

/** @param literal `partial_revokes` is ON: the name is no pattern there */
export function grantOnSchema(privileges: readonly string[], schema: string, account: string, literal: boolean): string {
  const name = literal ? schema : schema.replace(/[\\_%]/g, "\\$&");
  return `GRANT ${privileges.join(", ")} ON ${asText(identifier(name))}.* TO ${account};`;
}

export function grantOnTable(privileges: readonly string[], table: TableName, account: string): string {
  return `GRANT ${privileges.join(", ")} ON ${asText(qualified(table.schema, table.table))} TO ${account};`;
}

/** Byte SQL as the text that people read. */
function asText(statement: string): string {
  return Buffer.from(statement, "latin1").toString("utf8");
}
