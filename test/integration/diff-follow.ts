/**
 * A follow for tests of the diff: writes on the source, and the same statements in the same order on the target, later, a few
 * at a time, each batch in one transaction with the fence.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Connection } from "mysql2/promise";
import type { DiffScene } from "./diff-scene.js";

export class FakeFollow implements AsyncDisposable {
  readonly scene: DiffScene;
  /** Statements written so far. */
  written = 0;
  private readonly pending: { statement: string; position: string }[] = [];
  private readonly lag: number;
  private writing = true;
  private following = true;
  private running: Promise<unknown>[] = [];
  private failure: Error | undefined;

  private constructor(scene: DiffScene, lag: number) {
    this.scene = scene;
    this.lag = lag;
  }

  /** @param lag milliseconds between a write on the source and the same on the target, about */
  static async start(scene: DiffScene, options: { lag: number; perSecond: number; statement: (i: number) => string }): Promise<FakeFollow> {
    const follow = new FakeFollow(scene, options.lag);
    const [source, target] = await Promise.all([scene.ctx.source.connect(), scene.ctx.target.connect()]);
    follow.running = [follow.write(source, options), follow.apply(target)].map((p) => p.catch((error: unknown) => {
      follow.failure = error instanceof Error ? error : new Error(String(error));
    }));
    return follow;
  }

  private async write(source: Connection, options: { perSecond: number; statement: (i: number) => string }): Promise<void> {
    const uuid = String((await source.query<never>("SELECT @@server_uuid AS u") as unknown as [[{ u: string }]])[0][0].u);
    const begun = Date.now();
    while (this.writing) {
      if (this.written >= ((Date.now() - begun) / 1000) * options.perSecond) {
        await sleep(2);
        continue;
      }
      const statement = options.statement(this.written++).replaceAll("{db}", this.scene.ctx.schema);
      await source.query(statement);
      const [[row]] = (await source.query("SELECT @@gtid_executed AS p")) as unknown as [[{ p: string }]];
      if (!row.p.includes(uuid)) throw new Error("the source writes no GTIDs");
      this.pending.push({ statement, position: row.p.replace(/\s/g, "") });
    }
  }

  private async apply(target: Connection): Promise<void> {
    const fence = `${this.scene.context.state.schema}.fence`;
    while (this.following || this.pending.length > 0) {
      await sleep(this.lag / 2 + Math.random() * this.lag);
      const batch = this.pending.splice(0);
      const last = batch.at(-1);
      if (last === undefined) {
        await this.scene.moveFence();
        continue;
      }
      await target.query("SET sql_log_bin=0; BEGIN");
      await target.query(`SELECT * FROM ${fence} FOR UPDATE`);
      for (const { statement } of batch) await target.query(statement);
      await target.query(`UPDATE ${fence} SET seq=seq+1, position=? WHERE migration=?`, [last.position, this.scene.ref.migration]);
      await target.query("COMMIT");
    }
  }

  /** Ends the writes and applies what is left. */
  async end(): Promise<void> {
    this.writing = false;
    this.following = false;
    await Promise.all(this.running);
    if (this.failure !== undefined) throw this.failure;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }
}
