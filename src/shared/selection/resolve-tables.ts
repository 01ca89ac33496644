/**
 * Expands a spec's `tables` over what the source has.
 *
 * A pattern takes base tables only, and passes over what it cannot take (`passedOver`), since `*` means "the tables"; what is
 * called by its name and is no base table is a problem. The order is that of the spec, and within a pattern by name, the same
 * on every server.
 */
import type { MigrationSpec, TableSelection } from "../contracts/spec.js";
import type { Problem } from "../errors.js";
import type { Session } from "../mysql/session.js";
import { globMatcher, isGlob } from "./glob.js";
import { nameOf, type SelectedTable } from "./selected-table.js";
import { readSourceNames, type SourceNames, type SourceSchema, type TableKind } from "./source-tables.js";

export interface SelectionProblem extends Problem {
  /** What the server hides from a user without privileges, where that may be the cause. */
  unseen?: { schema: string; table?: string };
}

export interface ResolvedTables {
  tables: SelectedTable[];
  problems: SelectionProblem[];
  /** Views and sequences that a pattern matched: their names. */
  passedOver: string[];
}

type PatternSelection = Extract<TableSelection, { kind: "pattern" }>;
type NamedSelection = Extract<TableSelection, { kind: "table" }>;

export async function resolveTables(session: Session, spec: MigrationSpec): Promise<ResolvedTables> {
  const names = await readSourceNames(session, spec.tables.map((selection) => selection.schema));
  return selectTables(names, spec, session.server);
}

/** The pure part. @param server the connection's name, for messages */
export function selectTables(names: SourceNames, spec: MigrationSpec, server: string): ResolvedTables {
  const result: ResolvedTables = { tables: [], problems: [], passedOver: [] };
  const missing = new Set<string>();
  for (const selection of spec.tables) {
    const schema = names.schema(selection.schema);
    if (schema === null) {
      // Two entries of one schema are one problem.
      if (!missing.has(selection.schema)) result.problems.push(schemaMissing(selection.schema, server));
      missing.add(selection.schema);
    } else if (selection.kind === "table") selectNamed(result, selection, schema, names.ignoreCase, server);
    else selectMatching(result, selection, schema, names.ignoreCase, server);
  }
  result.problems.push(...repeated(result.tables, names.ignoreCase));
  return result;
}

function selectNamed(result: ResolvedTables, selection: NamedSelection, schema: SourceSchema, ignoreCase: boolean, server: string): void {
  const name = realName(schema, selection.table, ignoreCase);
  if (name === undefined) return void result.problems.push(tableMissing({ schema: schema.name, table: selection.table }, server));
  const source = { schema: schema.name, table: name };
  const kind = schema.tables.get(name) as TableKind;
  if (kind !== "BASE TABLE") return void result.problems.push(wrongKind(nameOf(source), kind, server));
  result.tables.push({ source, target: { schema: selection.targetSchema, table: selection.targetTable }, where: selection.where });
}

function selectMatching(result: ResolvedTables, selection: PatternSelection, schema: SourceSchema, ignoreCase: boolean, server: string): void {
  const excluded = selection.exclude.map((pattern) => globMatcher(pattern, { ignoreCase }));
  const all = [...schema.tables.keys()].sort(byCodePoints);
  const allowed = all.filter((name) => !excluded.some((matches) => matches(name)));
  const taken = new Set<string>();
  for (const pattern of selection.include) {
    const matches = globMatcher(pattern, { ignoreCase });
    if (!isGlob(pattern) && !all.some(matches)) {
      result.problems.push(tableMissing({ schema: schema.name, table: pattern }, server));
      continue;
    }
    let bases = 0;
    for (const name of allowed.filter(matches)) {
      const kind = schema.tables.get(name) as TableKind;
      if (kind === "BASE TABLE") {
        bases += 1;
        taken.add(name);
      } else if (isGlob(pattern) && (kind === "VIEW" || kind === "SEQUENCE")) {
        const passed = nameOf({ schema: schema.name, table: name });
        if (!result.passedOver.includes(passed)) result.passedOver.push(passed);
      } else {
        bases += 1; // Said once, as its own problem.
        result.problems.push(wrongKind(nameOf({ schema: schema.name, table: name }), kind, server));
      }
    }
    if (bases === 0) result.problems.push(nothingMatched(selection, pattern, server));
  }
  for (const table of [...taken].sort(byCodePoints)) {
    result.tables.push({ source: { schema: schema.name, table }, target: { schema: selection.targetSchema, table }, where: null });
  }
}

/** A source table taken twice, or two tables with one target. */
function repeated(tables: readonly SelectedTable[], ignoreCase: boolean): Problem[] {
  const problems: Problem[] = [];
  const identity = (...parts: string[]) => (ignoreCase ? JSON.stringify(parts).toLowerCase() : JSON.stringify(parts));
  const sources = new Map<string, SelectedTable>();
  const targets = new Map<string, SelectedTable>();
  for (const table of tables) {
    const source = identity(table.source.schema, table.source.table);
    if (sources.has(source)) {
      problems.push({
        code: "table-selected-twice",
        message: `the table ${nameOf(table.source)} is selected by two entries of "tables"`,
        cure: `keep one of them, for instance by adding "${table.source.table}" to the "exclude" of the pattern`,
      });
      continue;
    }
    sources.set(source, table);
    const target = identity(table.target.schema, table.target.table);
    const other = targets.get(target);
    if (other === undefined) targets.set(target, table);
    else
      problems.push({
        code: "target-selected-twice",
        message: `the tables ${nameOf(other.source)} and ${nameOf(table.source)} have the same target ${nameOf(table.target)}`,
        cure: `give one of them another "targetSchema" or "targetTable"`,
      });
  }
  return problems;
}

function realName(schema: SourceSchema, wanted: string, ignoreCase: boolean): string | undefined {
  if (schema.tables.has(wanted)) return wanted;
  return ignoreCase ? [...schema.tables.keys()].find((name) => name.toLowerCase() === wanted.toLowerCase()) : undefined;
}

/** Not by the locale, nor by a server's collation: the same everywhere. */
function byCodePoints(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function schemaMissing(schema: string, server: string): SelectionProblem {
  return {
    unseen: { schema },
    code: "schema-missing",
    message: `${server}: there is no schema ${schema}, or the user may not see it`,
    cure: "correct its name in the spec, or grant SELECT on it",
  };
}

function tableMissing(table: { schema: string; table: string }, server: string): SelectionProblem {
  return {
    unseen: table,
    code: "table-missing",
    message: `${server}: there is no table ${nameOf(table)}, or the user may not see it`,
    cure: "correct its name in the spec, or grant SELECT on it",
  };
}

function wrongKind(name: string, kind: TableKind, server: string): Problem {
  const what = kind === "VIEW" || kind === "SYSTEM VIEW" ? "a view" : kind === "SYSTEM VERSIONED" ? "a system-versioned table, whose history would be lost" : `a ${kind.toLowerCase()}`;
  return {
    code: "table-kind",
    message: `${server}: ${name} is ${what}; Drover moves base tables`,
    cure: `leave it out of "tables", or add it to "exclude"`,
  };
}

function nothingMatched(selection: PatternSelection, pattern: string, server: string): SelectionProblem {
  return {
    unseen: { schema: selection.schema },
    code: "pattern-empty",
    message: `${server}: no base table in the schema ${selection.schema} matches "${pattern}"${selection.exclude.length === 0 ? "" : ' and is not in "exclude"'}`,
    cure: `correct or remove the pattern in "include"; a user sees only the tables that it has a privilege on`,
  };
}
