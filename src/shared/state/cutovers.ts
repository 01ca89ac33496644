/** The cut-over of a migration: how far it is, and what it changed outside of the target's tables, so that it can be put back. */
import { DroverError, errorRecord } from "../errors.js";
import { cutoverOptions, type CutoverOptions, type CutoverStep, type ReadOnlyBefore } from "../contracts/cutover.js";
import type { StoredError } from "../contracts/status.js";
import { identifier, sql, type ByteSql } from "../mysql/bytes.js";
import type { Session, TextRecord } from "../mysql/session.js";
import type { Finding } from "../preflight/finding.js";
import { NOW, id, isoOf, json, textOf } from "./values.js";

export type CutoverState = "running" | "undoing" | "completed" | "failed";

/** What a cut-over remembers between its steps. */
export interface CutoverFacts {
  /** Written before the source is made read-only. */
  readOnlyBefore: ReadOnlyBefore | null;
  readOnlyUndone: boolean;
  /** Everything up to here must be applied. */
  sourcePosition: string | null;
  diffId: string | null;
  /** The migration was paused by the cut-over. */
  stopped: boolean;
  /** The target's own position behind all of our writes. */
  targetPosition: string | null;
  findings: Finding[];
  notes: string[];
  /** What could not be done after the point of no return. */
  left: string[];
  /** Why it could not be taken back yet; the error of the cut-over itself is its reason. */
  undoError: StoredError | null;
}

export interface Cutover {
  options: CutoverOptions;
  state: CutoverState;
  /** The step that is due. */
  step: CutoverStep;
  facts: CutoverFacts;
  error: StoredError | null;
  overdue: boolean;
  startedAt: string;
  deadline: string;
  completedAt: string | null;
}

const NO_FACTS: CutoverFacts = {
  readOnlyBefore: null, readOnlyUndone: false, sourcePosition: null, diffId: null, stopped: false, targetPosition: null, findings: [], notes: [], left: [], undoError: null,
};

export class CutoverStore {
  private readonly table: ByteSql;

  constructor(schema: string) {
    this.table = `${identifier(schema)}.cutovers` as ByteSql;
  }

  /** Begins a cut-over in place of one that ended; returns false when one is under way or done. */
  async begin(session: Session, migration: string, options: CutoverOptions, findings: Finding[]): Promise<boolean> {
    await session.run(sql`DELETE FROM ${this.table} WHERE migration=${id(migration)} AND state='failed'`);
    const done = await session.run(sql`INSERT IGNORE INTO ${this.table} (migration, options, state, step, facts, started_at, deadline)
      VALUES (${id(migration)}, ${json(options)}, 'running', 'catch-up', ${json({ ...NO_FACTS, findings })}, ${NOW}, ${NOW} + INTERVAL ${options.timeout * 1000} MICROSECOND)`);
    return done.affectedRows === 1;
  }

  async read(session: Session, migration: string, lock = false): Promise<Cutover | null> {
    const [row] = await session.rows(sql`SELECT *, deadline < ${NOW} AS overdue FROM ${this.table} WHERE migration=${id(migration)}${(lock ? " FOR UPDATE" : "") as ByteSql}`);
    return row ? cutoverOf(row) : null;
  }

  /** Migrations whose cut-over is under way. */
  async unfinished(session: Session): Promise<string[]> {
    return (await session.rows(sql`SELECT migration FROM ${this.table} WHERE state IN ('running','undoing')`)).map((row) => textOf(row, "migration"));
  }

  /** @throws DroverError WRONG_PHASE while a cut-over is under way: it owns the migration */
  async requireNone(session: Session, migration: string): Promise<void> {
    const cutover = await this.read(session, migration);
    if (cutover?.state === "running" || cutover?.state === "undoing")
      throw new DroverError("WRONG_PHASE", `migration ${migration} is being cut over (${cutover.step})`, { cure: `wait for its end, or take it back: drover cutover ${migration} --abort` });
  }

  /**
   * Behind the step `stop` the target's tables are the application's. Whoever writes rows asks this under the fence's lock: `stop` holds it.
   * @throws DroverError WRONG_PHASE
   */
  async requireOurs(session: Session, migration: string): Promise<void> {
    const cutover = await this.read(session, migration);
    if (cutover === null || !isReleased(cutover)) return;
    throw new DroverError("WRONG_PHASE", `migration ${migration} ${cutover.state === "completed" ? "was" : "is being"} cut over: what its tables hold by now is the application's`, { cure: cutover.state === "completed" ? "nothing is repaired any more; a migration back (--reverse) has diffs of its own" : "wait for the end of the cut-over" });
  }

  /**
   * Behind the step `stop` a comparison in the old direction would call differences what the application changes.
   * @throws DroverError WRONG_PHASE
   */
  async requireComparable(session: Session, migration: string): Promise<void> {
    const cutover = await this.read(session, migration);
    if (cutover === null || !isReleased(cutover)) return;
    const over = cutover.state === "completed";
    const { reverse } = cutover.options;
    throw new DroverError("WRONG_PHASE", `migration ${migration} ${over ? "was" : "is being"} cut over: its target is the application's, and what that changes there would be differences`, {
      cure: !over ? "wait for the end of the cut-over" : reverse === null ? "compare before a cut-over (--diff does); a migration back (--reverse) has diffs of its own" : `compare the way back: drover diff start ${reverse}`,
    });
  }

  /** Records what the step that is due found or did. The caller's transaction holds the row's lock, or nobody else can be at this step. */
  async setFacts(session: Session, migration: string, facts: CutoverFacts): Promise<void> {
    await session.run(sql`UPDATE ${this.table} SET facts=${json(facts)} WHERE migration=${id(migration)}`);
  }

  /** From one step to the next, with what is known by then; of two workers only one does. */
  async advance(session: Session, migration: string, from: CutoverStep, to: CutoverStep, facts: CutoverFacts): Promise<boolean> {
    const done = await session.run(sql`UPDATE ${this.table} SET step=${id(to)}, facts=${json(facts)}, error=NULL WHERE migration=${id(migration)} AND state='running' AND step=${id(from)}`);
    return done.affectedRows === 1;
  }

  async changeState(session: Session, migration: string, from: CutoverState, to: CutoverState): Promise<boolean> {
    const ended = to === "completed" || to === "failed" ? NOW : ("NULL" as ByteSql);
    const done = await session.run(sql`UPDATE ${this.table} SET state=${id(to)}, completed_at=${ended} WHERE migration=${id(migration)} AND state=${id(from)}`);
    return done.affectedRows === 1;
  }

  /** The last step is done. */
  async complete(session: Session, migration: string, facts: CutoverFacts): Promise<void> {
    await session.run(sql`UPDATE ${this.table} SET state='completed', step='reverse', facts=${json(facts)}, error=NULL, completed_at=${NOW} WHERE migration=${id(migration)} AND state='running' AND step='reverse'`);
  }

  async recordError(session: Session, migration: string, thrown: unknown): Promise<void> {
    const before = await this.read(session, migration);
    const stored: StoredError = { ...errorRecord(thrown), at: new Date().toISOString(), retries: (before?.error?.retries ?? 0) + 1 };
    await session.run(sql`UPDATE ${this.table} SET error=${json(stored)} WHERE migration=${id(migration)} AND state='running'`);
  }

  /** @returns how often taking back has failed */
  async recordUndoError(session: Session, migration: string, thrown: unknown): Promise<number> {
    const now = await this.read(session, migration);
    if (now?.state !== "undoing") return 1;
    const undoError: StoredError = { ...errorRecord(thrown), at: new Date().toISOString(), retries: (now.facts.undoError?.retries ?? 0) + 1 };
    await this.setFacts(session, migration, { ...now.facts, undoError });
    return undoError.retries;
  }

  /** Gives the cut-over up: what it changed is put back from here on. */
  async giveUp(session: Session, migration: string, reason: unknown): Promise<boolean> {
    const stored: StoredError = { ...errorRecord(reason), at: new Date().toISOString(), retries: 1 };
    const done = await session.run(sql`UPDATE ${this.table} SET state='undoing', error=${json(stored)} WHERE migration=${id(migration)} AND state='running' AND step NOT IN ('events','reverse')`);
    return done.affectedRows === 1;
  }
}

/** From `stop` on nothing of ours writes to the target's tables; a cut-over that is taken back gives them back with the phase. */
export function isReleased({ state, facts }: Pick<Cutover, "state" | "facts">): boolean {
  return state !== "failed" && facts.stopped;
}

function cutoverOf(row: TextRecord): Cutover {
  return {
    options: cutoverOptions.parse(JSON.parse(textOf(row, "options"))),
    state: textOf(row, "state") as CutoverState,
    step: textOf(row, "step") as CutoverStep,
    facts: { ...NO_FACTS, ...(JSON.parse(textOf(row, "facts")) as Partial<CutoverFacts>) },
    error: row["error"] == null ? null : (JSON.parse(row["error"]) as StoredError),
    overdue: row["overdue"] === "1",
    startedAt: isoOf(row, "started_at") ?? "",
    deadline: isoOf(row, "deadline") ?? "",
    completedAt: isoOf(row, "completed_at"),
  };
}
