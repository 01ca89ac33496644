/**
 * Makes rows of the target equal to the source's, under the fence: what a chunk of the copy does, for single keys.
 *
 * 1. Read the fence; make sure that the source shows everything up to its position.
 * 2. Read the source rows.
 * 3. In one target transaction: lock the fence (shared), check that it has not moved since 1 (I1, I3), that no cut-over has given
 *    the tables away and that the table is still the one whose columns were read, write or delete the rows that differ, commit. Every event after
 *    the fence comes later and wins (I2), so a newer row is never overwritten for good.
 */
import { writtenAs } from "../../shared/columns/create-dialect.js";
import { sleep } from "../../shared/abort.js";
import { ReplaceWriter } from "../../shared/columns/replace-writer.js";
import { DroverError } from "../../shared/errors.js";
import { rowsByKey } from "../../shared/keys/chunk-select.js";
import { deleteStatements } from "../../shared/keys/delete-statements.js";
import { keyOf } from "../../shared/keys/key-of.js";
import { selectList } from "../../shared/columns/select-list.js";
import { sql, type ByteSql } from "../../shared/mysql/bytes.js";
import type { Session } from "../../shared/mysql/session.js";
import { WORKING_PHASES } from "../../shared/state/migrations.js";
import type { Fence } from "../../shared/state/fence.js";
import { waitUntilVisible } from "../visibility.js";
import { replaceRows, statementBytes } from "../target/checked-write.js";
import type { ChunkWork } from "./compare-chunk.js";
import { byStatement, fromKeys } from "./row-hashes.js";
import { sameSubject, subjectOf } from "./subject.js";
import { uniqueOwners } from "./unique-owners.js";

/** A fence that moves between two statements of a few rows is rare; one that does so this often in a row is not believed. */
const FENCE_ATTEMPTS = 200;

type Rows = Map<string, Buffer>;

/** Repairs the rows of the keys (latin1 text rows). Returns the keys whose target rows it changed; owners of their unique values may be among them. */
export async function repairRows(work: ChunkWork, keys: readonly string[]): Promise<string[]> {
  const all = new Set(keys);
  for (let attempt = 1; ; attempt++) {
    const fence = await work.sides.use("target", (session) => work.context.state.fence.require(session, work.ref.migration));
    const source = await sourceRows(work, [...all], fence);
    await work.context.hooks.at("diff:before-repair", { migration: work.ref.migration, attempt });
    const outcome = await write(work, [...all], source, fence);
    if (Array.isArray(outcome)) return outcome;
    if (outcome !== "moved") for (const owner of outcome) all.add(owner);
    if (attempt >= FENCE_ATTEMPTS) throw new DroverError("FENCE_MOVED", `the fence of ${work.ref.migration} moved ${attempt} times while rows were repaired`);
    await sleep(5 + Math.random() * 20, work.sides.signal);
  }
}

async function sourceRows(work: ChunkWork, keys: readonly string[], fence: Fence): Promise<Rows> {
  const { sides, subject } = work;
  const rows: Rows = new Map();
  await sides.use("source", (session) => waitUntilVisible(session, fence.position, sides.signal));
  await sides.read("source", subject, async (session, definition) => {
    const keyOfRow = keyOf(definition);
    for (const some of byStatement(definition, keys)) {
      await session.readRows(sql`SELECT ${selectList(definition)} ${fromKeys(definition, some, subject.where)}`, (buffer, start, end) => {
        rows.set(keyOfRow(buffer, start, end).toString("latin1"), Buffer.from(buffer.subarray(start, end)));
      });
    }
  });
  return rows;
}

/** @returns the changed keys; or keys of further rows that must be repaired along; or `moved` */
async function write(work: ChunkWork, keys: readonly string[], source: Rows, before: Fence): Promise<string[] | Set<string> | "moved"> {
  const { context, ref, sides, subject } = work;
  return await sides.use("target", async (session) => {
    await session.run("BEGIN" as ByteSql);
    const fence = await context.state.fence.require(session, ref.migration, "share");
    await context.state.cutovers.requireOurs(session, ref.migration);
    const { phase } = await context.state.migrations.require(session, ref.migration);
    if (phase === "stopped" || phase === "completed") await context.state.claims.keepFree(session, ref.migration, [subject.target]);
    const result = fence.partial || fence.seq !== before.seq || fence.epoch !== before.epoch ? "moved" : await writeLocked(session, work, keys, source);
    await session.run((Array.isArray(result) ? "COMMIT" : "ROLLBACK") as ByteSql);
    return result;
  });

  async function writeLocked(session: Session, of: ChunkWork, wanted: readonly string[], rows: Rows): Promise<string[] | Set<string>> {
    const definition = of.subject.target;
    const present: Rows = new Map();
    const keyOfRow = keyOf(definition);
    await session.readRows(sql`${rowsByKey(definition, wanted)} FOR UPDATE`, (buffer, start, end) => {
      present.set(keyOfRow(buffer, start, end).toString("latin1"), Buffer.from(buffer.subarray(start, end)));
    });
    // Behind the first look at the table, which keeps DDL of it away until the end of this transaction.
    await requireUnaltered(session, of);
    const puts = [...rows].filter(([key, row]) => present.get(key)?.equals(row) !== true);
    const deletes = [...present.keys()].filter((key) => !rows.has(key));
    const owners = await uniqueOwners(session, definition, puts.map(([, row]) => row));
    const strangers = new Set([...owners].filter((key) => !present.has(key)));
    if (strangers.size > 0) return strangers;
    const maxBytes = statementBytes(session);
    const target = { schema: subject.target.schema, table: subject.target.table };
    const gone = [...deletes, ...puts.map(([key]) => key).filter((key) => present.has(key))];
    for (const statement of deleteStatements(definition, target, gone, { maxBytes })) await session.run(statement);
    const writer = new ReplaceWriter(writtenAs(definition, session.isMariaDb ? "mariadb" : "mysql"), target, { maxBytes, maxRows: 1_000 });
    let affected = 0;
    for (const [, row] of puts) {
      const full = writer.add(row);
      if (full) affected += await replaceRows(session, full, { definition, target });
    }
    const rest = writer.finish();
    if (rest) affected += await replaceRows(session, rest, { definition, target });
    // Owners are found by whole columns. Of an index over prefixes or expressions only the server knows what is equal: whatever gave way here
    // is a row that the diff has not seen, and no event may come that restores it.
    if (affected !== puts.length)
      throw new DroverError("ROW_REFUSED", `${session.server}: rows of ${target.schema}.${target.table} hold unique values of rows that are to be repaired, and are not a part of this repair`, { cure: "compare again and repair that diff: it sees them too" });
    return [...new Set([...deletes, ...puts.map(([key]) => key)])];
  }
}

/**
 * The repair's definition is from its beginning. A column that came since is in no statement of it: what is written anew would have its default there,
 * and no event need come that brings the value.
 * @throws DroverError TABLE_CHANGED where the repair is to begin anew with the table as it is now
 */
export async function requireUnaltered(session: Session, { context: { state }, ref, subject, options }: ChunkWork): Promise<void> {
  const name = `${subject.target.schema}.${subject.target.table}`;
  const table = await state.tables.read(session, ref.migration, subject.number);
  if (table === null || !sameSubject(subjectOf(ref.migration, table, options), subject)) throw new DroverError("TABLE_CHANGED", `${name} was altered while rows of it were repaired`);
  // A statement that has been executed, or is about to be; the definition follows with the fence.
  if ((await state.ddlJournal.read(session, ref.migration)) === null) return;
  const { phase } = await state.migrations.require(session, ref.migration);
  if (WORKING_PHASES.includes(phase)) throw new DroverError("TABLE_CHANGED", `DDL of the source is being executed on the target, perhaps on ${name}`);
  throw new DroverError("WRONG_PHASE", `migration ${ref.migration} is ${phase}, and was left in the middle of DDL, perhaps on ${name}`, { cure: `\`drover resume ${ref.migration}\` first, or start it anew` });
}
