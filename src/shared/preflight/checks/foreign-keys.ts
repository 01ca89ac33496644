/**
 * Foreign keys of and to the selected tables.
 *
 * Before MySQL 9.6 (and in MariaDB) InnoDB itself changes the children of `ON … CASCADE` and `SET NULL`: the binlog does not have
 * these changes, so a follow would miss them. From 9.6 on the SQL layer makes and logs them, unless `innodb_native_foreign_keys`.
 */
import { sql, textLiteral } from "../../mysql/bytes.js";
import { nameOf } from "../../selection/selected-table.js";
import type { Check } from "../check.js";
import type { PlannedTable, PreflightContext } from "../context.js";
import { failure, warning, type Finding } from "../finding.js";
import { isOn, type ServerFacts } from "../server-facts.js";
import { atLeast, versionName } from "../server-version.js";

interface ForeignKey {
  name: string;
  child: { schema: string; table: string };
  parent: { schema: string; table: string };
  onUpdate: string;
  onDelete: string;
}

export const foreignKeys: Check = {
  name: "foreign keys",
  async run(context) {
    const { source } = context;
    if (source === null || context.tables.length === 0) return [];
    const keys = await readForeignKeys(context);
    const fold = (name: { schema: string; table: string }) => (source.ignoreCase ? nameOf(name).toLowerCase() : nameOf(name));
    const selected = new Map(context.tables.map((table) => [fold(table.source), table]));
    return keys.flatMap((key) => keyFindings(context, source, key, selected.get(fold(key.child)), selected.get(fold(key.parent))));
  },
};

async function readForeignKeys(context: PreflightContext): Promise<ForeignKey[]> {
  const keys = new Map<string, ForeignKey>();
  for (const schema of new Set(context.tables.map((table) => table.source.schema))) {
    const literal = textLiteral(schema);
    const rows = await context.onSource((session) =>
      session.rows(sql`SELECT CONSTRAINT_SCHEMA AS child_schema, TABLE_NAME AS child, CONSTRAINT_NAME AS name, UNIQUE_CONSTRAINT_SCHEMA AS parent_schema,
        REFERENCED_TABLE_NAME AS parent, UPDATE_RULE AS on_update, DELETE_RULE AS on_delete
        FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA=${literal} OR UNIQUE_CONSTRAINT_SCHEMA=${literal}`),
    );
    for (const row of rows) {
      const text = (column: string) => row[column] ?? "";
      const child = { schema: text("child_schema"), table: text("child") };
      keys.set(JSON.stringify([child, text("name")]), {
        name: text("name"), child, parent: { schema: text("parent_schema"), table: text("parent") }, onUpdate: text("on_update").toUpperCase(), onDelete: text("on_delete").toUpperCase(),
      });
    }
  }
  return [...keys.values()];
}

function keyFindings(context: PreflightContext, source: ServerFacts, key: ForeignKey, child: PlannedTable | undefined, parent: PlannedTable | undefined): Finding[] {
  const what = `the foreign key ${key.name} of ${nameOf(key.child)}`;
  if (child === undefined) {
    if (parent === undefined) return [];
    return [warning("foreign-key-child", `${source.name}: ${nameOf(key.child)} refers to ${nameOf(key.parent)} (${key.name}), but is not selected: on the target nothing refers to it`, `select ${nameOf(key.child)} too, or leave it behind knowingly`)];
  }
  const findings: Finding[] = [];
  const acts = [key.onDelete, key.onUpdate].some((rule) => ACTS.has(rule));
  if (acts && context.follows && !logsCascades(source))
    findings.push(failure("foreign-key-cascade", `${source.name}: ${what} (ON DELETE ${key.onDelete}, ON UPDATE ${key.onUpdate}) changes rows that ${versionName(source.version)} does not write to the binlog, so the target would miss them`, cascadeCure(source)));
  findings.push(...parentFindings(source, key, child, parent, what));
  return findings;
}

const ACTS = new Set(["CASCADE", "SET NULL", "SET DEFAULT"]);

function logsCascades({ version, variables }: ServerFacts): boolean {
  return version.flavor === "mysql" && atLeast(version, 9, 6) && !isOn(variables.get("innodb_native_foreign_keys"));
}

function cascadeCure(source: ServerFacts): string {
  if (isOn(source.variables.get("innodb_native_foreign_keys"))) return `put "innodb_native_foreign_keys = OFF" under [mysqld] in the configuration file of ${source.name}, and restart it`;
  return `recreate it with ON DELETE RESTRICT ON UPDATE RESTRICT and let the application change the children itself, leave the table out, use mode "copy" while nothing writes, or upgrade ${source.name} to MySQL 9.6 or newer`;
}

/** The target's foreign key names the parent as the source does; without a schema it means the child's own target schema. */
function parentFindings(source: ServerFacts, key: ForeignKey, child: PlannedTable, parent: PlannedTable | undefined, what: string): Finding[] {
  const meant = { schema: key.parent.schema === key.child.schema ? child.target.schema : key.parent.schema, table: key.parent.table };
  if (parent === undefined)
    return [warning("foreign-key-parent", `${source.name}: ${what} refers to ${nameOf(key.parent)}, which is not selected: on the target it refers to ${nameOf(meant)}, whatever that holds`, `select ${nameOf(key.parent)} too, or drop the foreign key on the target after the migration`)];
  if (nameOf(parent.target) === nameOf(meant)) return [];
  return [warning("foreign-key-parent", `${source.name}: ${what} refers to ${nameOf(key.parent)}, whose target is ${nameOf(parent.target)}; on the target it refers to ${nameOf(meant)}`, "recreate the foreign key on the target after the migration, or keep the parent's name")];
}
