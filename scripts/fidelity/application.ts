/**
 * What the application does on the source, before and after the migration begins. Everything goes on from rows that are there
 * already by SQL alone, so that no value passes through this program.
 */
import type { Connection, RowDataPacket } from "mysql2/promise";
import type { CorpusTable } from "./corpus.js";

/** Rows of one table, by the way on which their values reach the target: each is the ordinal of its value plus this. */
export const WAYS = {
  copy: 0,
  insert: 10_000,
  update: 20_000,
  delete: 30_000,
  /** Its value goes away by an UPDATE to NULL. */
  clear: 40_000,
  /** Its key changes, and with that the whole row is written anew. */
  move: 50_000,
} as const;
export type Way = keyof typeof WAYS;

const MOVED = 60_000;

/** Where the row of a value stands in the end; null when it is gone. */
export function placeOf(way: Way, ordinal: number): number | null {
  if (way === "delete") return null;
  return (way === "move" ? MOVED : WAYS[way]) + ordinal;
}

/** Odd on purpose: a zone that neither server has, and a mode that lets everything in. */
export const WRITING = "SET SESSION time_zone='+02:00', sql_mode='', group_concat_max_len=1000000";

const INSERT_BYTES = 500_000;

function definition(schema: string, table: CorpusTable): string {
  const columns = table.columns.map(({ name, type }) => `${name} ${type}${/ NULL$/.test(type) ? "" : " NULL"}`);
  return `CREATE TABLE ${schema}.${table.name} (id INT NOT NULL PRIMARY KEY, ${columns.join(", ")}, z INT NOT NULL DEFAULT 9) ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`;
}

/**
 * Takes away the rows of a text table whose bytes a server of another family refuses: asked by statements of its own, that go
 * around Drover. Returns how many.
 */
export async function removeRefused(source: Connection, target: Connection, schema: string, table: CorpusTable): Promise<number> {
  const names = table.columns.map(({ name }) => name);
  const bytes = names.map((name) => `HEX(${name}) AS ${name}`).join(", ");
  const read = async (db: Connection) => new Map((await db.query<RowDataPacket[]>(`SELECT id, ${bytes} FROM ${schema}.${table.name}`))[0].map((row) => [Number(row["id"]), JSON.stringify(row)]));
  const wanted = await read(source);
  await target.query(definition(schema, table));
  const tuples = [...wanted].map(([id, row]) => `(${id}, ${names.map((name) => literal((JSON.parse(row) as Record<string, string | null>)[name] ?? null)).join(", ")})`);
  await target.query(`INSERT IGNORE INTO ${schema}.${table.name} (id, ${names.join(", ")}) VALUES ${tuples.join(",")}`);
  const held = await read(target);
  await target.query(`DROP TABLE ${schema}.${table.name}`);
  const refused = [...wanted].filter(([id, row]) => held.get(id) !== row).map(([id]) => id);
  if (refused.length > 0) await source.query(`DELETE FROM ${schema}.${table.name} WHERE MOD(id, ${WAYS.insert}) IN (${refused.join(",")})`);
  table.refused = new Set(refused);
  return refused.length;
}

function literal(hex: string | null): string {
  return hex === null ? "NULL" : hex === "" ? "''" : `X'${hex}'`;
}

export async function createTable(db: Connection, schema: string, table: CorpusTable): Promise<void> {
  await db.query(definition(schema, table));
  const names = table.columns.map(({ name }) => name);
  let tuples: string[] = [];
  let size = 0;
  const flush = async () => {
    if (tuples.length > 0) await db.query(`INSERT IGNORE INTO ${schema}.${table.name} (id, ${names.join(", ")}) VALUES ${tuples.join(",")}`);
    tuples = [];
    size = 0;
  };
  for (const [i, value] of table.values.entries()) {
    const tuple = `(${i}, ${names.map(() => value).join(", ")})`;
    tuples.push(tuple);
    size += tuple.length;
    if (size > INSERT_BYTES) await flush();
  }
  await flush();
  const name = `${schema}.${table.name}`;
  await db.query(`INSERT INTO ${name} (id) SELECT id+${WAYS.update} FROM ${name} WHERE id<${WAYS.insert}`);
  for (const way of ["delete", "clear", "move"] as const) await db.query(`INSERT INTO ${name} (id, ${names.join(", ")}) SELECT id+${WAYS[way]}, ${names.join(", ")} FROM ${name} WHERE id<${WAYS.insert}`);
}

/** Each table's changes are a few transactions of many rows; the ids say which way they go. */
export async function changeTable(db: Connection, schema: string, table: CorpusTable): Promise<void> {
  const name = `${schema}.${table.name}`;
  const columns = table.columns.map((column) => column.name);
  const between = (way: Way) => `id BETWEEN ${WAYS[way]} AND ${WAYS[way] + WAYS.insert - 1}`;
  await db.query(`INSERT INTO ${name} (id, ${columns.join(", ")}) SELECT id+${WAYS.insert}, ${columns.join(", ")} FROM ${name} WHERE ${between("copy")}`);
  await db.query(`UPDATE ${name} AS t JOIN ${name} AS f ON f.id=t.id-${WAYS.update} SET ${columns.map((column) => `t.${column}=f.${column}`).join(", ")} WHERE t.${between("update")}`);
  await db.query(`DELETE FROM ${name} WHERE ${between("delete")}`);
  await db.query(`UPDATE ${name} SET ${columns.map((column) => `${column}=NULL`).join(", ")} WHERE ${between("clear")}`);
  await db.query(`UPDATE ${name} SET id=id+${MOVED - WAYS.move} WHERE ${between("move")}`);
}
