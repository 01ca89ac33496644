/** The commented YAML that `drover init` writes. What it leaves uncommented is a spec that `check` takes. */
import { formatBytes } from "../../../shared/units.js";
import { count } from "../format/numbers.js";
import type { SourcePicture, SourceTable } from "./inspect-source.js";

export interface SpecTextOptions {
  id: string;
  source: string;
  target: string;
  picture: SourcePicture;
}

/** The tables that can be moved as they are, as entries of a spec's `tables`. */
export function selections(tables: readonly SourceTable[]): ({ schema: string; include: string[] } | { schema: string; table: string })[] {
  const fit = tables.filter((table) => table.obstacles.length === 0);
  return [...bySchema(fit)].flatMap(([schema, list]) => {
    const plain = list.filter((table) => !isPattern(table.table));
    return [...(plain.length > 0 ? [{ schema, include: plain.map((table) => table.table) }] : []), ...list.filter((table) => isPattern(table.table)).map((table) => ({ schema, table: table.table }))];
  });
}

/** A migration id from a schema's name. */
export function idOf(schemas: readonly string[]): string {
  const id = (schemas.length === 1 ? (schemas[0] ?? "") : "").toLowerCase().replace(/[^a-z0-9_-]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 64);
  return id === "" ? "migration" : id;
}

export function specText({ id, source, target, picture }: SpecTextOptions): string {
  const { tables } = picture;
  const total = tables.reduce((sum, table) => sum + table.bytes, 0);
  const schemas = [...bySchema(tables)];
  const fit = tables.some((table) => table.obstacles.length === 0);
  return `${[
    `# Written by \`drover init\` from ${source}, ${picture.server}: ${count(tables.length)} tables, ${formatBytes(total)} with indexes.`,
    "# Numbers of rows are the server's estimates. Next: `drover check FILE`, `drover start FILE`.",
    "",
    `id: ${scalar(id)}`,
    `source: ${scalar(source)}`,
    `target: ${scalar(target)}`,
    "mode: copy+follow        # or copy: once, without following the binlog",
    "",
    ...(fit ? ["tables:"] : ["# None of the tables can be moved as it is: see below.", "tables: []"]),
    ...schemas.flatMap(([schema, list]) => schemaLines(schema, list)),
    ...(picture.passedOver.length === 0 ? [] : ["", "# Not moved, since they are no base tables:", ...picture.passedOver.map((name) => `#   ${oneLine(name)}`)]),
    "",
    "# All of these have the default that stands here.",
    "# options:",
    "#   copyConcurrency: 4         # chunks at once, over all workers",
    "#   chunkTime: 500ms           # how long reading and writing one should take",
    "#   backlogBytes: 256MiB       # most of the binlog that waits in Redis",
    "#   existingTarget: fail       # a target table with rows: fail, replace or resume",
    "#   ddl: apply                 # DDL of the source: apply, stop or ignore",
  ].join("\n")}\n`;
}

function schemaLines(schema: string, tables: readonly SourceTable[]): string[] {
  const order = [...tables].sort((a, b) => b.bytes - a.bytes || a.table.localeCompare(b.table));
  const fit = order.filter((table) => table.obstacles.length === 0);
  const plain = fit.filter((table) => !isPattern(table.table));
  const width = Math.max(...order.map((table) => scalar(table.table).length));
  const entry = (table: SourceTable, prefix: string) => `${prefix}${scalar(table.table).padEnd(width)}   # ${facts(table)}`;
  const lines: string[] = [""];
  if (plain.length > 0)
    lines.push(
      `  - schema: ${scalar(schema)}`,
      "    # targetSchema: another_name",
      "    # These tables only; `include: [\"*\"]` takes also those that are created later.",
      "    include:",
      ...plain.map((table) => entry(table, "      - ")),
    );
  for (const table of fit.filter((one) => isPattern(one.table))) lines.push(`  - schema: ${scalar(schema)}`, `    table: ${scalar(table.table)}   # ${facts(table)}`);
  for (const table of order.filter((one) => one.obstacles.length > 0)) {
    lines.push(`      # needs attention: ${oneLine(schema)}.${oneLine(table.table)}`);
    for (const { message, cure } of table.obstacles) lines.push(`      #   ${oneLine(message)}`, ...(cure === "" ? [] : [`      #   → ${oneLine(cure)}`]));
    lines.push(entry(table, "      # - "));
  }
  return lines;
}

function facts(table: SourceTable): string {
  const key = table.key === null ? "no key" : `key ${table.key.index} (${table.key.columns.join(", ")})`;
  return oneLine(`${count(table.rows)} rows, ${formatBytes(table.bytes)}, ${key}`);
}

function bySchema(tables: readonly SourceTable[]): Map<string, SourceTable[]> {
  const schemas = new Map<string, SourceTable[]>();
  for (const table of tables) schemas.set(table.schema, [...(schemas.get(table.schema) ?? []), table]);
  return schemas;
}

/** `include` takes patterns, so such a name must be called by `table`. */
function isPattern(name: string): boolean {
  return /[*?]/.test(name);
}

/** Plain where YAML reads it as the same string, else in double quotes, which JSON's are. */
function scalar(text: string): string {
  return /^[A-Za-z_][A-Za-z0-9_$-]*$/.test(text) && !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(text) ? text : JSON.stringify(text);
}

/** A name may hold a line break, which would end a comment. */
function oneLine(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f\u0085\u2028\u2029]+/g, " ");
}
