/**
 * The one read of a table without a key, and the exact position of its rows.
 *
 * Rows with a key may be read "somewhere behind the fence": later images of the same key heal them (I2). Here every event must be
 * carried out exactly once, so it must be known which events the rows hold. The read view of a SELECT is taken when its first row
 * is looked for; no statement tells its position. But it lies between two readings:
 *
 * - G, the executed position before the SELECT: all of it is visible;
 * - U, what is executed or about to be (`gtid_owned`) once the first row has come: nothing else is visible. A transaction
 *   owns its GTID before it is written to the binlog, and gives it up to `gtid_executed` after it has become visible.
 *
 * When nothing lies between G and U, or the binlog shows that what lies there does not touch this table, the rows are those of G.
 * Otherwise they are read again. The window is a few milliseconds long, however long the read takes.
 */
import { randomInt } from "node:crypto";
import { sleep, underAny } from "../../shared/abort.js";
import { DroverError } from "../../shared/errors.js";
import { BINARY_NAMES, FILTER_NAMES, chunkSelect } from "../../shared/keys/chunk-select.js";
import type { ByteSql } from "../../shared/mysql/bytes.js";
import { tlsOptions } from "../../shared/mysql/open-session.js";
import { executedPosition, Position, positionCovers } from "../../shared/mysql/position.js";
import type { Session } from "../../shared/mysql/session.js";
import type { Migration } from "../../shared/state/migrations.js";
import type { MigrationTable } from "../../shared/state/tables.js";
import { openBinlogStream } from "../binlog/stream.js";
import type { EngineContext } from "../context.js";
import { sameDefinition } from "../planner/source-table.js";
import { presentTable } from "../planner/present-table.js";
import type { RowBuffer } from "../target/row-buffer.js";
import type { ChunkRows } from "./read-chunk.js";
import { WholeReadLimit } from "./whole-read-limit.js";

export interface WholeTable extends ChunkRows {
  /** The rows are the table's as of this position; null when nobody follows. */
  position: string | null;
}

/** Reads that a table under constant writes gets before the copy asks for patience. */
const TRIES = 40;
/** How long the transactions of the window may take to arrive in the binlog, in milliseconds. */
const WINDOW_PATIENCE = 2_000;

/** @throws DroverError NO_KEY_TOO_LARGE, TABLE_CHANGED, FENCE_MOVED (paused meanwhile), SERVER_BUSY (it is written to without a pause, or slow) */
export async function readWholeTable(context: EngineContext, migration: Migration, table: MigrationTable, buffer: RowBuffer, signal: AbortSignal): Promise<WholeTable> {
  const { source, mode } = migration.spec;
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    buffer.reset();
    const { rows, before, upper } = await context.connections.use(source, "source", signal, (reader) =>
      context.connections.use(source, "source", signal, async (watcher) => {
        const position = mode === "copy" ? "" : await executedPosition(reader);
        await context.hooks.at("chunk:before-select", { migration: migration.id, table: table.number });
        const bounds: Promise<string>[] = [];
        const read = await readRows(reader, table, buffer, () => {
          if (mode === "copy") return;
          const bound = visibleBound(watcher);
          // The read may fail first, and then nobody looks.
          bound.catch(() => undefined);
          bounds.push(bound);
        });
        return { rows: read, before: position, upper: (await bounds[0]) ?? "" };
      }),
    );
    // What the binlog tells as DDL at or before the position counts as known.
    const now = await presentTable(context, source, table.source, signal);
    if (now === null || !sameDefinition(now.definition, table.definition))
      throw new DroverError("TABLE_CHANGED", `${table.source.schema}.${table.source.table} was changed on the source while it was being copied`);
    if (mode === "copy") return { ...rows, position: null };
    if (positionCovers(before, upper) || !(await isTouched(context, source, table, before, upper, signal))) return { ...rows, position: before };
    await sleep(randomInt(10, 50 + attempt * 10), signal);
    await requireSamePhase(context, migration, signal);
  }
  throw new DroverError("SERVER_BUSY", `${table.source.schema}.${table.source.table} has no key and is written to without a pause: no read of it could be told from the writes`, {
    cure: "it is tried again; let its writers pause for a moment, or give it a primary key",
  });
}

/** Many reads may take minutes, and what they read for may be over. */
async function requireSamePhase(context: EngineContext, { id, phase, spec }: Migration, signal: AbortSignal): Promise<void> {
  const now = await context.connections.use(spec.target, "target", signal, (session) => context.state.migrations.require(session, id));
  if (now.phase !== phase) throw new DroverError("FENCE_MOVED", `${id} became ${now.phase} while a table without a key was read`);
}

async function readRows(session: Session, { definition, where, source }: MigrationTable, buffer: RowBuffer, onView: () => void): Promise<ChunkRows> {
  const limit = new WholeReadLimit(Date.now());
  if (where !== null) await session.run(FILTER_NAMES);
  const complete = await session.readRows(chunkSelect(definition, { lower: null, upper: null, where }), (row, start, end) => {
    if (limit.rows === 0) onView();
    buffer.add(row, start, end);
    return limit.add(end - start, Date.now);
  });
  if (limit.rows === 0) onView();
  if (!complete) throw limit.error(source);
  if (where !== null) await session.run(BINARY_NAMES);
  return { rows: limit.rows, bytes: limit.bytes, stoppedAt: null };
}

/** Everything that any statement which has begun by now can see. The order counts: a GTID goes from owned to executed. */
async function visibleBound(session: Session): Promise<string> {
  const [owned] = await session.rows("SELECT @@GLOBAL.gtid_owned AS owned" as ByteSql);
  const executed = await executedPosition(session);
  const list = (owned?.["owned"] ?? "").replace(/#\d+/g, "").trim();
  return list === "" ? executed : Position.parse(executed === "" ? list : `${executed},${list}`).toString();
}

/** Whether a transaction behind `from` and up to `upTo` may have changed the table. What does not arrive in time may have. */
async function isTouched(context: EngineContext, server: string, table: MigrationTable, from: string, upTo: string, signal: AbortSignal): Promise<boolean> {
  const address = context.connections.address(server);
  const { schema, table: name } = table.source;
  const position = Position.parse(from);
  const bound = Position.parse(upTo);
  const end = new AbortController();
  let gtid = "";
  let touched = false;
  let arrived = false;
  await underAny([signal, end.signal], async (either) => {
    const stream = await openBinlogStream({
      host: address.host, port: address.port, user: address.user, password: address.password, ...tlsOptions(address),
      connectAttributes: { program_name: "drover", drover_worker: context.worker, drover_role: "tail", drover_deployment: context.connections.deployment },
      serverId: 0x8000_0000 + randomInt(0x7fff_ffff),
      position: from,
      signal: either,
      handler: {
        begin: (transaction) => void (gtid = transaction.gtid),
        table: (seen) => {
          touched ||= bound.contains(gtid) && seen.schema.toLowerCase() === schema.toLowerCase() && seen.table.toLowerCase() === name.toLowerCase();
          return null;
        },
        // DDL, or rows in statement format: who knows.
        statement: () => void (touched ||= bound.contains(gtid)),
        commit: () => {
          position.add(gtid);
          arrived = position.covers(bound);
          if (arrived || touched) end.abort();
        },
      },
    });
    const limit = setTimeout(() => end.abort(), WINDOW_PATIENCE);
    try {
      await stream.ended;
    } finally {
      clearTimeout(limit);
      await stream.close();
    }
  });
  if (signal.aborted) return true;
  return touched || !arrived;
}
