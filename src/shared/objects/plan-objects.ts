/**
 * Which objects a migration carries, and as what statements.
 *
 * Views, routines and events belong to a schema that the spec selects by patterns (views: those that match them); triggers to the
 * tables that are moved. Names within an object's text are not rewritten: an object that names a schema which has another name on
 * the target, or a table that has, is refused.
 */
import type { TableName } from "../columns/table-definition.js";
import type { MigrationSpec } from "../contracts/spec.js";
import { DroverError, type Problem } from "../errors.js";
import { identifier, qualified, utf8Sql, type ByteSql } from "../mysql/bytes.js";
import type { Session } from "../mysql/session.js";
import { globMatcher } from "../selection/glob.js";
import { objectLabel, type Account, type DatabaseObject, type ObjectKind } from "./database-object.js";
import { readObjectText, withReplacements, type ObjectText } from "./object-text.js";
import { isUtf8 } from "../sql/client-charset.js";
import { listObjects, readObjects, type ListedObject } from "./read-objects.js";

export interface PlannedObject {
  object: DatabaseObject;
  /** Its schema on the target; its name is the same. */
  schema: string;
  /** Of a trigger: its table there. */
  table: string | null;
  /** The statement that creates it there, with that schema as the session's default. */
  statement: ByteSql;
  /** Who it will run as; null for whoever creates it. */
  definer: Account | null;
  /** For an event that acts: the statement that creates it without acting. */
  disabled: ByteSql | null;
}

export interface ObjectPlan {
  /** In the order of creation. */
  objects: PlannedObject[];
  problems: Problem[];
}

export interface ObjectScope {
  spec: MigrationSpec;
  tables: readonly { source: TableName; target: TableName }[];
  kinds: readonly ObjectKind[];
  /** The source does not tell names by case. */
  ignoreCase: boolean;
}

/** The kinds that a spec asks for, routines before the views that may call them. */
export function kindsOf(objects: MigrationSpec["objects"]): ObjectKind[] {
  const kinds: Record<MigrationSpec["objects"][number], ObjectKind[]> = { routines: ["procedure", "function"], views: ["view"], triggers: ["trigger"], events: ["event"] };
  return (["routines", "views", "triggers", "events"] as const).filter((name) => objects.includes(name)).flatMap((name) => kinds[name]);
}

/** Target schemas by source schema. */
export function mappedSchemas(scope: Pick<ObjectScope, "spec" | "tables">): Map<string, string> {
  const schemas = new Map<string, string>();
  for (const selection of scope.spec.tables) if (!schemas.has(selection.schema)) schemas.set(selection.schema, selection.targetSchema);
  for (const { source, target } of scope.tables) if (!schemas.has(source.schema)) schemas.set(source.schema, target.schema);
  return schemas;
}

/** The objects of the source that the scope selects. */
export async function selectObjects(session: Session, scope: ObjectScope): Promise<ListedObject[]> {
  const selected: ListedObject[] = [];
  for (const schema of mappedSchemas(scope).keys()) selected.push(...(await listObjects(session, schema, scope.kinds)).filter((object) => isSelected(object, scope)));
  return selected;
}

/** Reads and plans. The session's default schema is another one afterwards: destroy it. */
export async function planObjects(session: Session, scope: ObjectScope): Promise<ObjectPlan> {
  const objects = await readObjects(session, await selectObjects(session, scope));
  const plan: ObjectPlan = { objects: [], problems: [] };
  const texts = new Map<DatabaseObject, ObjectText>();
  for (const object of objects) {
    try {
      const text = readObjectText(object);
      texts.set(object, text);
      const problems = nameProblems(object, text, scope);
      plan.problems.push(...problems);
      if (problems.length === 0) plan.objects.push(planned(object, text, scope));
    } catch (error) {
      if (!(error instanceof DroverError) || error.code !== "STATEMENT_REFUSED") throw error;
      plan.problems.push({ code: "object-unreadable", message: error.message, cure: error.cure ?? "" });
    }
  }
  plan.objects = inOrder(plan.objects, texts);
  return plan;
}

function isSelected(listed: ListedObject, { spec, tables, ignoreCase }: ObjectScope): boolean {
  if (listed.kind === "trigger") return tables.some(({ source }) => source.schema === listed.schema && source.table === listed.table);
  const patterns = spec.tables.filter((selection) => selection.kind === "pattern").filter((selection) => same(selection.schema, listed.schema, ignoreCase));
  if (listed.kind !== "view") return patterns.length > 0;
  const matches = (pattern: string) => globMatcher(pattern, { ignoreCase })(listed.name);
  return patterns.some((selection) => selection.include.some(matches) && !selection.exclude.some(matches));
}

function same(a: string, b: string, ignoreCase: boolean): boolean {
  return a === b || (ignoreCase && a.toLowerCase() === b.toLowerCase());
}

function targetOf(object: DatabaseObject, scope: ObjectScope): TableName | null {
  return scope.tables.find(({ source }) => source.schema === object.schema && source.table === object.table)?.target ?? null;
}

function planned(object: DatabaseObject, text: ObjectText, scope: ObjectScope): PlannedObject {
  const table = targetOf(object, scope);
  const schema = table?.schema ?? mappedSchemas(scope).get(object.schema) ?? object.schema;
  const definer = chosenDefiner(scope.spec.options.definer, text.definer);
  const edits = [
    // What is kept stays as it was written.
    { at: scope.spec.options.definer === "keep" ? null : text.definerPlace, by: `DEFINER=${definer === null ? "CURRENT_USER" : accountSql(definer)}` },
    { at: table === null || isSame(table, object) ? null : text.tablePlace, by: table === null ? "" : qualified(table.schema, table.table) },
  ];
  const disabled = text.enablePlace === null ? null : (withReplacements(object.text, [...edits, { at: text.enablePlace, by: "DISABLE" }]) as ByteSql);
  return { object, schema, table: table?.table ?? null, definer, statement: withReplacements(object.text, edits) as ByteSql, disabled };
}

function isSame(table: TableName, object: DatabaseObject): boolean {
  return table.schema === object.schema && table.table === object.table;
}

/** @param option `keep`, `current`, or an account `user@host` */
function chosenDefiner(option: string, own: Account | null): Account | null {
  if (option === "keep") return own;
  if (option === "current") return null;
  const at = option.lastIndexOf("@");
  return { user: option.slice(0, at), host: option.slice(at + 1) };
}

function accountSql({ user, host }: Account): string {
  return host === null ? identifier(user) : `${identifier(user)}@${identifier(host)}`;
}

function nameProblems(object: DatabaseObject, text: ObjectText, scope: ObjectScope): Problem[] {
  const bytes = (name: string) => utf8Sql(name).toLowerCase();
  const problems: Problem[] = [];
  const report = (code: string, what: string) =>
    problems.push({ code, message: `the ${objectLabel(object)} ${what}`, cure: "create it on the target by hand after the cut-over and leave its kind out of the objects, or keep the names of schemas and tables on the target" });
  const moved = [...mappedSchemas(scope)].filter(([source, target]) => source !== target).map(([source]) => source);
  const renamed = scope.tables.filter(({ source, target }) => source.table !== target.table).map(({ source }) => source.table);
  for (const schema of moved) if (text.qualifiers.has(bytes(schema))) report("object-names-schema", `names the schema ${schema}, which has another name on the target`);
  for (const table of new Set(renamed)) if (text.names.has(bytes(table))) report("object-names-table", `names ${table}, and a table of that name has another one on the target`);
  const strange = [...moved, ...renamed].filter((name) => !/^[\x00-\x7f]*$/.test(name));
  if (strange.length > 0 && !isUtf8(object.characterSet)) report("object-names-schema", `is written in ${object.characterSet}, in which names such as ${strange[0]} cannot be looked for`);
  // SHOW CREATE writes its name in UTF-8 into a text of another character set (seen on 9.7): it would be created under another name.
  if (NAMED_IN_UTF8.has(object.kind) && !/^[\x00-\x7f]*$/.test(object.name) && !isUtf8(object.characterSet)) report("object-name-charset", `is written in ${object.characterSet}, in which its name cannot be given back`);
  if (moved.length + renamed.length > 0 && text.names.has("prepare")) report("object-dynamic-sql", "prepares statements, which may name schemas and tables that have other names on the target");
  return problems;
}

const NAMED_IN_UTF8: ReadonlySet<ObjectKind> = new Set(["procedure", "function", "event"]);

const RANK: Record<ObjectKind, number> = { procedure: 0, function: 1, view: 2, trigger: 3, event: 4 };

/** Views behind the views that they name. A name that only looks like a view's may order them otherwise, which does no harm. */
function inOrder(objects: readonly PlannedObject[], texts: ReadonlyMap<DatabaseObject, ObjectText>): PlannedObject[] {
  const sorted = [...objects].sort((a, b) => RANK[a.object.kind] - RANK[b.object.kind]);
  const views = sorted.filter(({ object }) => object.kind === "view");
  const placed: PlannedObject[] = [];
  const waiting = new Set(views);
  const isFree = (view: PlannedObject) => ![...waiting].some((other) => other !== view && texts.get(view.object)?.names.has(utf8Sql(other.object.name).toLowerCase()) === true);
  while (waiting.size > 0) {
    const next = [...waiting].find(isFree) ?? ([...waiting][0] as PlannedObject);
    waiting.delete(next);
    placed.push(next);
  }
  return [...sorted.filter(({ object }) => RANK[object.kind] < RANK.view), ...placed, ...sorted.filter(({ object }) => RANK[object.kind] > RANK.view)];
}
