/**
 * A repaired row must not overwrite a newer event: the very rows under repair are written on the source at the worst moment, between the
 * repair's reading of them and its writing.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { RowDataPacket } from "mysql2/promise";
import { readRepairReport, type RepairReport } from "../../src/shared/state/diff-repair-report.js";
import { requestRepair } from "../../src/workers/diff/commands.js";
import { testContext } from "../support/context.js";
import { DiffScene } from "./diff-scene.js";

type Rows = RowDataPacket[];

/** The keys that the events are about. Row 30 is different, too, and nobody writes it. */
const HOT = [20, 21];

/** Applies events about the hot keys as the follow does, and keeps the fence near the source's end: other tests commit there. */
class HotFollow implements AsyncDisposable {
  /** What the latest event left on the target. */
  followed: Rows | null = null;
  private readonly scene: DiffScene;
  private order: Promise<unknown> = Promise.resolve();
  private readonly idling: Promise<void>;
  private ended = false;

  constructor(scene: DiffScene) {
    this.scene = scene;
    this.idling = this.idle();
  }

  rows(side: "source" | "target"): Promise<Rows> {
    return this.scene.ctx[side].query<Rows>(`SELECT * FROM ${this.scene.ctx.schema}.a WHERE id IN (${HOT.join()}) ORDER BY id`);
  }

  /** Commits a statement on the source. @returns when the target has it, `lag` milliseconds after the source had it */
  async event(statement: string, lag: number): Promise<{ applied: Promise<void> }> {
    const written = this.turn(() => this.scene.source(statement));
    // No other turn comes between: the fence must not pass what is not applied.
    const applied = this.turn(async () => {
      await sleep(lag);
      await this.apply(await this.rows("source"));
    });
    await written;
    return { applied };
  }

  /** The rows' last images and the fence, in one transaction. */
  private async apply(rows: Rows): Promise<void> {
    const { ctx } = this.scene;
    const [at] = await ctx.source.query("SELECT @@GLOBAL.gtid_executed AS p");
    const db = await ctx.target.connect();
    await db.query("SET sql_log_bin=0; BEGIN");
    await db.query(`SELECT * FROM ${ctx.stateSchema}.fence FOR UPDATE`);
    await db.query(`DELETE FROM ${ctx.schema}.a WHERE id IN (${HOT.join()})`);
    for (const row of rows) await db.query(`INSERT INTO ${ctx.schema}.a SET ?`, [row]);
    await db.query(`UPDATE ${ctx.stateSchema}.fence SET seq=seq+1, position=?`, [String(at?.["p"]).replace(/\s/g, "")]);
    await db.query("COMMIT");
    db.destroy();
    this.followed = rows;
  }

  private async idle(): Promise<void> {
    while (!this.ended) {
      await sleep(100);
      await this.turn(() => this.scene.moveFence());
    }
  }

  private turn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.order.then(work);
    this.order = turn.catch(() => undefined);
    return turn;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.ended = true;
    await this.idling;
    await this.order;
  }
}

interface Outcome {
  report: RepairReport | null;
  /** What stood on the target, at any writing or in the end, in place of what the follow had left there. */
  overwritten: Rows[];
  equal: boolean;
}

/** Plants a difference in row 20 and one in row 30, and repairs them while an event happens at each writing. */
async function repairAmid(plant: string, events: readonly string[], lag = 0): Promise<Outcome> {
  await using ctx = await testContext();
  const left = [...events];
  const overwritten: Rows[] = [];
  const late: Promise<void>[] = [];
  await using scene = new DiffScene(ctx, {
    mode: "copy+follow",
    hooks: {
      at: async (point) => {
        if (point !== "diff:before-repair") return;
        await look();
        const event = left.shift();
        if (event === undefined) return;
        const { applied } = await follow.event(event, lag);
        if (lag === 0) await applied;
        else late.push(applied);
      },
    },
  });
  await scene.both("CREATE TABLE {db}.a (id INT PRIMARY KEY, v VARCHAR(40), n INT NOT NULL)", "INSERT INTO {db}.a VALUES (10,'v1',1), (20,'v2',2), (30,'v3',3), (40,'v4',4)");
  await scene.register("a");
  await using follow = new HotFollow(scene);
  async function look(): Promise<void> {
    const rows = await follow.rows("target");
    if (lag === 0 && follow.followed !== null && JSON.stringify(rows) !== JSON.stringify(follow.followed)) overwritten.push(rows);
  }
  await scene.target(plant);
  await scene.target("UPDATE {db}.a SET v='wrong' WHERE id=30");
  const { diffId } = await scene.diff();
  await requestRepair(scene.context, scene.ref, diffId, false, scene.ending.signal);
  await scene.repair(diffId);
  await Promise.all(late);
  await look();
  expect(left).toEqual([]);
  const whole = (side: "source" | "target") => ctx[side].query<Rows>(`SELECT * FROM ${ctx.schema}.a ORDER BY id`);
  const [source, target] = [await whole("source"), await whole("target")];
  return { report: await scene.onTarget((session) => readRepairReport(session, ctx.stateSchema, "m", diffId)), overwritten, equal: JSON.stringify(source) === JSON.stringify(target) };
}

const DIFFERENT = "UPDATE {db}.a SET v='wrong' WHERE id=20";
const MISSING = "DELETE FROM {db}.a WHERE id=20";

describe("repair of rows that are being written", () => {
  // More events than the repair has tries: one that wrote old rows could not heal them by trying again.
  const cases: [name: string, plant: string, events: string[]][] = [
    ["updated", DIFFERENT, [1, 2, 3, 4].map((i) => `UPDATE {db}.a SET v='newer ${i}' WHERE id=20`)],
    ["updated where the target has none", MISSING, [1, 2, 3, 4].map((i) => `UPDATE {db}.a SET n=100+${i} WHERE id=20`)],
    ["deleted, and there again", DIFFERENT, ["DELETE FROM {db}.a WHERE id=20", "INSERT INTO {db}.a VALUES (20,'again',9)", "DELETE FROM {db}.a WHERE id=20", "INSERT INTO {db}.a VALUES (20,'once more',9)"]],
    ["deleted", DIFFERENT, ["DELETE FROM {db}.a WHERE id=20"]],
    ["given another key, and the old one back", DIFFERENT, [21, 20, 21, 20].map((to) => `UPDATE {db}.a SET id=${to}, n=n+1 WHERE id IN (20, 21)`)],
    ["given another key", DIFFERENT, ["UPDATE {db}.a SET id=21 WHERE id=20"]],
  ];
  for (const [name, plant, events] of cases)
    it(`a row that is ${name} on both sides while the repair is about to write it keeps the newer state`, async () => {
      const { report, overwritten, equal } = await repairAmid(plant, events);
      expect(overwritten).toEqual([]);
      expect(equal).toBe(true);
      // The follow has made row 20 equal, and the repair row 30.
      expect(report).toMatchObject({ state: "completed", repaired: 1, equal: 1, inconclusive: 0, refused: 0, error: null });
    });

  for (const [name, event] of [["updated", "UPDATE {db}.a SET v='newer' WHERE id=20"], ["deleted", "DELETE FROM {db}.a WHERE id=20"], ["given another key", "UPDATE {db}.a SET id=21 WHERE id=20"]] as const)
    it(`a row that is ${name} on the source alone by then is newer on the target in the end: the follow comes after the repair`, async () => {
      const { report, equal } = await repairAmid(DIFFERENT, [event], 400);
      expect(equal).toBe(true);
      expect(report).toMatchObject({ state: "completed", repaired: 2, equal: 0, inconclusive: 0, refused: 0, error: null });
    });
});
