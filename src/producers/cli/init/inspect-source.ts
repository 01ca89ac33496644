/** What `drover init` needs to know of a live source: its schemas, and of each table size, key, and what speaks against it. */
import type { Config } from "../../../shared/config.js";
import { parseMigrationSpec } from "../../../shared/contracts/spec.js";
import { DroverError } from "../../../shared/errors.js";
import { sql, textLiteral, type ByteSql } from "../../../shared/mysql/bytes.js";
import { Connections } from "../../../shared/mysql/connections.js";
import type { Session } from "../../../shared/mysql/session.js";
import { foreignKeys } from "../../../shared/preflight/checks/foreign-keys.js";
import { tableShapes } from "../../../shared/preflight/checks/table-shapes.js";
import { readContext, type PlannedTable, type PreflightContext } from "../../../shared/preflight/context.js";
import type { Finding } from "../../../shared/preflight/finding.js";
import { versionName } from "../../../shared/preflight/server-version.js";

export interface SourceTable {
  schema: string;
  table: string;
  /** The server's estimate. */
  rows: number;
  /** Data and indexes. */
  bytes: number;
  /** Index and columns that tell its rows apart; null when there is no such index. */
  key: { index: string; columns: string[] } | null;
  /** Why it cannot be moved as it is, each with its cure; empty when it can. */
  obstacles: { message: string; cure: string }[];
}

export interface SourcePicture {
  /** `MySQL 9.7.4` */
  server: string;
  tables: SourceTable[];
  /** Views and the like, which are not moved. */
  passedOver: string[];
}

export interface InspectOptions {
  config: Config;
  source: string;
  target: string;
  /** Undefined: all but the server's own. */
  schemas: readonly string[] | undefined;
}

const OWN_SCHEMAS = ["mysql", "sys", "information_schema", "performance_schema"];

/** @throws DroverError CONFIG_INVALID, CONNECTION_LOST, NOT_FOUND (no such schema, or none at all) */
export async function inspectSource({ config, source, target, schemas }: InspectOptions): Promise<SourcePicture> {
  const connections = new Connections({ config, worker: `c-${process.pid}-init` });
  const signal = AbortSignal.timeout(10 * 60_000);
  try {
    const found = await connections.use(source, "source", signal, (session) => userSchemas(session, config.stateSchema));
    const missing = (schemas ?? []).filter((schema) => !found.includes(schema));
    if (missing.length > 0 || found.length === 0)
      throw new DroverError("NOT_FOUND", missing.length > 0 ? `${source}: there is no schema ${missing.join(", ")}, or this user may not see it` : `${source}: there is no schema that this user may see`, {
        cure: `${found.length > 0 ? `it sees ${found.slice(0, 20).join(", ")}; ` : ""}\`drover grants --source\` prints what its user needs`,
      });
    const wanted = schemas ?? found;
    // A spec that takes everything: preflight's own look at each table then says what stands in the way.
    const spec = parseMigrationSpec({ id: "init", source, target, tables: wanted.map((schema) => ({ schema })) });
    const context = await readContext({ config, connections, spec, stateSchema: config.stateSchema, signal });
    if (context.source === null) throw context.unreachable.get(source) ?? new DroverError("CONNECTION_LOST", `${source} does not answer`);
    const sizes = await connections.use(source, "source", signal, (session) => readSizes(session, wanted));
    const tables: SourceTable[] = [];
    for (const table of context.tables) tables.push(await sourceTable(context, table, sizes));
    return { server: versionName(context.source.version), tables, passedOver: context.selection.passedOver };
  } finally {
    connections.close();
  }
}

async function sourceTable(context: PreflightContext, planned: PlannedTable, sizes: ReadonlyMap<string, { rows: number; bytes: number }>): Promise<SourceTable> {
  const { schema, table } = planned.source;
  // A check of one table alone: what it says is of this table. Warnings are for `check`.
  const alone: PreflightContext = { ...context, tables: [planned] };
  const findings: Finding[] = [...(await tableShapes.run(alone)), ...(await foreignKeys.run(alone))].filter((finding) => finding.severity === "error");
  const size = sizes.get(JSON.stringify([schema, table])) ?? { rows: 0, bytes: 0 };
  return { schema, table, ...size, key: planned.definition?.key ?? null, obstacles: findings.map(({ message, cure }) => ({ message, cure })) };
}

async function userSchemas(session: Session, stateSchema: string): Promise<string[]> {
  const rows = await session.rows("SELECT SCHEMA_NAME AS name FROM information_schema.SCHEMATA ORDER BY SCHEMA_NAME" as ByteSql);
  return rows.map((row) => row["name"] ?? "").filter((name) => !OWN_SCHEMAS.includes(name.toLowerCase()) && name !== stateSchema);
}

async function readSizes(session: Session, schemas: readonly string[]): Promise<Map<string, { rows: number; bytes: number }>> {
  const list = schemas.map((schema) => textLiteral(schema)).join(", ") as ByteSql;
  const rows = await session.rows(sql`SELECT TABLE_SCHEMA AS parent, TABLE_NAME AS name, TABLE_ROWS AS row_count, DATA_LENGTH + INDEX_LENGTH AS bytes
    FROM information_schema.TABLES WHERE TABLE_SCHEMA IN (${list})`);
  return new Map(rows.map((row) => [JSON.stringify([row["parent"], row["name"]]), { rows: Number(row["row_count"] ?? 0), bytes: Number(row["bytes"] ?? 0) }]));
}
