/** The diff of a real migration that streams, by the client and a whole worker: no false difference under load, repair of planted ones. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { DroverClient } from "../../src/producers/index.js";
import { loadConfig } from "../../src/shared/config.js";
import { createLogger } from "../../src/shared/logger.js";
import { runWorker } from "../../src/workers/index.js";
import { testContext, type TestContext } from "../support/context.js";

const ROWS = 20_000;

async function fill(ctx: TestContext): Promise<void> {
  await ctx.source.query(`CREATE TABLE ${ctx.schema}.a (id INT PRIMARY KEY, v VARCHAR(60), c VARCHAR(20) COLLATE utf8mb4_0900_ai_ci, n INT NOT NULL DEFAULT 0, f FLOAT, j JSON, t TIMESTAMP NULL, KEY n (n))`);
  await ctx.source.query(`SET cte_max_recursion_depth=1000000; INSERT INTO ${ctx.schema}.a WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<${ROWS})
    SELECT i, CONCAT('value ', i), CONCAT('c', i), 0, i + 0.1, JSON_OBJECT('k', i, 'm', JSON_ARRAY(i, 'x')), '2024-05-05 10:00:00' FROM n`);
}

/** Writes until it is told to stop; rows up to id 100 stay as they are. */
class Writer {
  count = 0;
  private running = true;
  private readonly done: Promise<unknown>;

  constructor(ctx: TestContext, perSecond: number) {
    this.done = Promise.all([1, 2].map((w) => this.write(ctx, w, perSecond / 2)));
  }

  private async write(ctx: TestContext, worker: number, perSecond: number): Promise<void> {
    const connection = await ctx.source.connect();
    const begun = Date.now();
    for (let i = 0; this.running; i++) {
      const ahead = (i / perSecond) * 1000 - (Date.now() - begun);
      if (ahead > 5) await sleep(ahead);
      const id = 101 + ((i * 7919 + worker * 31) % (ROWS - 100));
      if (i % 10 === 8) await connection.query(`DELETE FROM ${ctx.schema}.a WHERE id=${id}`);
      else if (i % 10 === 9) await connection.query(`INSERT INTO ${ctx.schema}.a VALUES (${id},'again','a',${i},1.1,'{}',NULL) ON DUPLICATE KEY UPDATE v='again'`);
      else await connection.query(`UPDATE ${ctx.schema}.a SET n=${i}, v=CONCAT('v', ${i}), j=JSON_SET(j,'$.k',${i}) WHERE id=${id}`);
      this.count += 1;
    }
  }

  async stop(): Promise<void> {
    this.running = false;
    await this.done;
  }
}

describe("the diff of a streaming migration", () => {
  it("is right under load, finds what was planted, and repairs it while writes go on", async () => {
    await using ctx = await testContext();
    await fill(ctx);
    const config = loadConfig(ctx.env);
    const worker = await runWorker({ config, log: createLogger(process.env["DROVER_LOG_LEVEL"] ?? "silent") });
    const client = new DroverClient({ config });
    try {
      const writer = new Writer(ctx, 300);
      await client.startMigration({ id: "m", source: "SRC", target: "DST", tables: [{ schema: ctx.schema, table: "a" }] });
      await client.waitFor("m", "streaming", { timeout: 60_000 });
      let inconclusive = 0;
      for (let round = 0; round < 5; round++) {
        const { diffId } = await client.startDiff("m");
        const report = await client.waitForDiff("m", diffId, { timeout: 60_000 });
        expect(report).toMatchObject({ state: "completed", hasMismatch: false, lastError: null });
        inconclusive += report.tables.reduce((sum, t) => sum + t.inconclusive, 0);
      }
      expect(inconclusive).toBeLessThan(10);
      const changes: [number, string][] = [
        [1, "v='other'"], [2, "v=NULL"], [3, "v=CONCAT(v,' ')"], [4, "c=UPPER(c)"], [5, "j=JSON_SET(j,'$.m[1]','y')"], [6, "f=f+3e-7"], [7, "t=t+INTERVAL 1 HOUR"], [8, "v=''"],
      ];
      await ctx.source.query(`UPDATE ${ctx.schema}.a SET v=NULL WHERE id=8`);
      await client.waitFor("m", "caught-up", { timeout: 30_000 });
      for (const [id, change] of changes) await ctx.target.query(`UPDATE ${ctx.schema}.a SET ${change} WHERE id=${id}`);
      await ctx.target.query(`DELETE FROM ${ctx.schema}.a WHERE id IN (20, 21)`);
      await ctx.target.query(`INSERT INTO ${ctx.schema}.a (id, v) VALUES (-5,'extra'), (900000,'extra')`);
      const { diffId } = await client.startDiff("m", { maxSamples: 100 });
      const found = await client.waitForDiff("m", diffId, { timeout: 60_000 });
      expect(found.tables[0]).toMatchObject({ mismatched: 8, missingOnTarget: 2, extraOnTarget: 2 });
      expect(found.tables[0]?.samples.filter((s) => s.kind === "mismatched").map((s) => `${s.key["id"]}:${s.columns.join()}`).sort()).toEqual(["1:v", "2:v", "3:v", "4:c", "5:j", "6:f", "7:t", "8:v"]);
      const repaired = await client.repairDiff("m", diffId, { timeout: 60_000 });
      expect(repaired).toMatchObject({ state: "completed", repaired: 12, refused: 0, inconclusive: 0 });
      const { diffId: last } = await client.startDiff("m");
      expect(await client.waitForDiff("m", last, { timeout: 60_000 })).toMatchObject({ state: "completed", hasMismatch: false });
      await writer.stop();
      expect(writer.count).toBeGreaterThan(500);
      await client.waitFor("m", "caught-up", { timeout: 30_000 });
      const checksum = `SELECT COUNT(*) AS n, BIT_XOR(CRC32(CONCAT_WS('#',id,v,c,n,f,j,t))) AS c FROM ${ctx.schema}.a`;
      expect(await ctx.target.query(checksum)).toEqual(await ctx.source.query(checksum));
      await client.stop("m");
    } finally {
      await client.close();
      await worker.close();
    }
  }, 240_000);
});
