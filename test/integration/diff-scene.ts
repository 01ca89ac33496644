/**
 * A migration whose copy is done, written into the state schema by hand: the diff is tested without the rest of Drover. What
 * the follow would do, `apply` does by running the same statement on both sides and moving the fence.
 */
import { loadConfig } from "../../src/shared/config.js";
import { diffOptions, type DiffOptionsInput, type DiffReport } from "../../src/shared/contracts/diff.js";
import { parseMigrationSpec, type MigrationSpecInput } from "../../src/shared/contracts/spec.js";
import type { Phase } from "../../src/shared/contracts/status.js";
import { readTableDefinition } from "../../src/shared/columns/read-table.js";
import { createLogger } from "../../src/shared/logger.js";
import { Connections } from "../../src/shared/mysql/connections.js";
import { executedPosition } from "../../src/shared/mysql/position.js";
import type { Session } from "../../src/shared/mysql/session.js";
import { readDiffReport } from "../../src/shared/state/diff-report.js";
import { ensureStateSchema } from "../../src/shared/state/schema.js";
import { State } from "../../src/shared/state/state.js";
import type { EngineContext } from "../../src/workers/context.js";
import { startDiff } from "../../src/workers/diff/commands.js";
import { DiffEngine } from "../../src/workers/diff/engine.js";
import { DEFAULT_TUNING, type DiffTuning } from "../../src/workers/diff/tuning.js";
import { noHooks, type Hooks } from "../../src/workers/hooks.js";
import { DroverError } from "../../src/shared/errors.js";
import type { TestContext } from "../support/context.js";

/** What of a test context a scene needs. */
export type SceneContext = Pick<TestContext, "source" | "target" | "schema" | "stateSchema" | "env">;

export interface SceneOptions {
  mode?: "copy" | "copy+follow";
  phase?: Phase;
  hooks?: Hooks;
  tuning?: Partial<DiffTuning>;
  /** Filters by table. */
  where?: Record<string, string>;
}

export class DiffScene implements AsyncDisposable {
  readonly ref = { migration: "m", target: "DST" };
  readonly ending = new AbortController();
  readonly context: EngineContext;
  readonly engine: DiffEngine;
  readonly ctx: SceneContext;
  readonly tuning: DiffTuning;
  private readonly options: SceneOptions;
  private diffs = 0;

  constructor(ctx: SceneContext, options: SceneOptions = {}) {
    this.ctx = ctx;
    this.options = options;
    const config = loadConfig(ctx.env);
    this.context = {
      config, log: createLogger(process.env["DROVER_LOG_LEVEL"] ?? "silent"), connections: new Connections({ config, worker: "test" }), state: new State(config.stateSchema),
      worker: "test", hooks: options.hooks ?? noHooks,
    };
    this.tuning = { ...DEFAULT_TUNING, ...options.tuning };
    this.engine = new DiffEngine(this.context, { ending: this.ending.signal, tuning: this.tuning });
  }

  /** Runs statements on both servers; `{db}` is the test's schema. */
  async both(...statements: string[]): Promise<void> {
    await this.ctx.target.query(`CREATE DATABASE IF NOT EXISTS ${this.ctx.schema}`);
    for (const statement of statements) {
      await this.source(statement);
      await this.target(statement);
    }
  }

  async source(statement: string): Promise<void> {
    await this.ctx.source.query(statement.replaceAll("{db}", this.ctx.schema));
  }

  async target(statement: string): Promise<void> {
    await this.ctx.target.query(statement.replaceAll("{db}", this.ctx.schema));
  }

  onSource<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.context.connections.use("SRC", "source", this.ending.signal, work);
  }

  onTarget<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.context.connections.use("DST", "target", this.ending.signal, work);
  }

  /** Records the migration of these tables, its copy done. */
  async register(...names: string[]): Promise<void> {
    const { state } = this.context;
    const input: MigrationSpecInput = {
      id: this.ref.migration, source: "SRC", target: "DST", mode: this.options.mode ?? "copy",
      tables: names.map((table) => ({ schema: this.ctx.schema, table, ...(this.options.where?.[table] === undefined ? {} : { where: this.options.where[table] }) })),
    };
    const position = await this.onSource(executedPosition);
    const definitions = await this.onSource(async (session) => {
      const found = [];
      for (const name of names) found.push(await readTableDefinition(session, this.ctx.schema, name));
      return found;
    });
    await this.onTarget(async (session) => {
      await ensureStateSchema(session, state.schema);
      const spec = parseMigrationSpec(input);
      await state.migrations.create(session, input, spec);
      await state.migrations.changePhase(session, spec.id, ["planning"], spec.mode === "copy" ? "catching-up" : "streaming");
      await state.migrations.changePhase(session, spec.id, ["catching-up", "streaming"], this.options.phase ?? (spec.mode === "copy" ? "completed" : "streaming"));
      await state.fence.create(session, spec.id, position);
      for (const [i, name] of names.entries()) {
        const definition = definitions[i];
        if (!definition) throw new Error(`no table ${name}`);
        const at = { schema: this.ctx.schema, table: name };
        await state.tables.put(session, spec.id, {
          number: i + 1, source: at, target: at, where: this.options.where?.[name] ?? null, definition, startPosition: position, phase: "copied", planned: true, plannedTo: null,
          lastKey: null, noKeyMark: null, deferredIndexes: [], overlay: false, generation: 0, copiedPosition: null, rowsEstimated: definition.rowsEstimated,
        });
      }
    });
  }

  /** Moves the fence to where the source stands. */
  async moveFence(position?: string): Promise<void> {
    const to = position ?? (await this.onSource(executedPosition));
    await this.context.connections.transaction("DST", "target", this.ending.signal, async (session) => {
      const fence = await this.context.state.fence.require(session, this.ref.migration, "update");
      await this.context.state.fence.advance(session, this.ref.migration, { seq: fence.seq + 1, position: to, partial: false, rows: 1, transactions: 1, rowsPerSecond: 1, sourceTime: Date.now() });
    });
  }

  async start(options: DiffOptionsInput = {}): Promise<string> {
    const diffId = `d${++this.diffs}`;
    await startDiff(this.context, this.ref, diffId, diffOptions.parse(options), this.ending.signal);
    return diffId;
  }

  /** Works on a diff until it has ended, as the jobs would; failing items are tried again at once. */
  async work(diffId: string): Promise<DiffReport> {
    const { ref, engine } = this;
    const signal = this.ending.signal;
    for (let turn = 0; turn < 2_000; turn++) {
      const report = await this.report(diffId);
      if (report.state !== "pending" && report.state !== "running") return report;
      try {
        await engine.prepare(ref, diffId, signal, () => Promise.resolve());
      } catch (error) {
        await engine.recordPlanFailure(ref, diffId, error as DroverError);
      }
      const pending = await this.onTarget((session) => engine.state.chunks.pending(session, ref.migration, diffId, 8));
      const queue = [...pending];
      await Promise.all([1, 2, 3].map(async () => {
        for (let next = queue.shift(); next; next = queue.shift()) {
          try {
            const { table, number } = next;
            await engine.slots.busy(() => engine.chunk(ref, diffId, table, number, signal));
          } catch (error) {
            if (!(error instanceof DroverError)) throw error;
            if (error.kind !== "aborted") await engine.recordError(ref, diffId, error);
          }
        }
      }));
    }
    throw new Error("the diff does not end");
  }

  async repair(diffId: string): Promise<void> {
    await this.engine.slots.busy(() => this.engine.repair(this.ref, diffId, this.ending.signal));
  }

  async diff(options: DiffOptionsInput = {}): Promise<DiffReport> {
    return await this.work(await this.start(options));
  }

  report(diffId: string): Promise<DiffReport> {
    return this.onTarget((session) => readDiffReport(session, this.context.state.schema, this.ref.migration, diffId));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.ending.abort();
    this.context.connections.close();
  }
}
