/** The diff on MariaDB, and from MariaDB to MySQL: the same hashes from both kinds of server. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openServers, type MysqlServer, type Servers } from "../../scripts/servers/index.js";
import { TestMysql } from "../support/mysql.js";
import { DiffScene, type SceneContext } from "./diff-scene.js";

let servers: Servers;
let maria: MysqlServer;
let mysql: MysqlServer;

beforeAll(async () => {
  servers = await openServers({});
  [maria, mysql] = await Promise.all([servers.mysql({ name: "maria", flavor: "mariadb" }), servers.mysql({ name: "mysql" })]);
}, 120_000);

afterAll(async () => {
  await servers?.[Symbol.asyncDispose]();
});

async function context(id: string, source: MysqlServer, target: MysqlServer): Promise<SceneContext & AsyncDisposable> {
  const ctx = {
    source: new TestMysql(source.url, id), target: new TestMysql(target.url, id), schema: `${id}_src`, stateSchema: `${id}_state`,
    env: { DROVER_STATE_SCHEMA: `${id}_state`, DROVER_CONNECTION_SRC: source.url, DROVER_CONNECTION_DST: target.url },
    [Symbol.asyncDispose]: async () => void (await Promise.all([ctx.source.close(), ctx.target.close()])),
  };
  await ctx.source.query(`CREATE DATABASE ${ctx.schema}`);
  return ctx;
}

const COLUMNS = `id BIGINT UNSIGNED, k VARCHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, v VARCHAR(30) CHARACTER SET latin1, b VARBINARY(20), d DECIMAL(20,5), f FLOAT, g DOUBLE,
  t DATETIME(6), s TIMESTAMP(3) NULL, y YEAR, z TIME(2), e ENUM('a','b'), m SET('x','y','z'), bits BIT(12), l LONGTEXT, PRIMARY KEY (id, k)`;
const ROW = (i: number) => `(${i},'k${i}','ä${i}',x'00ff','-1234.50000',${i}.1,${i}e-300,'2024-01-01 00:00:00.123456','2024-01-01 00:00:00.123',2024,'-01:02:03.40','b','x,z',b'101','${"long".repeat(20)}')`;

for (const [from, to] of [["maria", "mysql"], ["mysql", "maria"]] as const) {
  describe(`a diff from ${from} to ${to}`, () => {
    it("finds equal rows equal and different ones different, in every type", async () => {
      await using ctx = await context(`x_${from}`, from === "maria" ? maria : mysql, to === "maria" ? maria : mysql);
      await using scene = new DiffScene(ctx, { tuning: { firstRows: 40, leafRows: 10 } });
      await scene.both(`CREATE TABLE {db}.a (${COLUMNS})`, `INSERT INTO {db}.a VALUES ${Array.from({ length: 100 }, (_, i) => ROW(i + 1)).join(",")}`);
      await scene.register("a");
      expect(await scene.diff()).toMatchObject({ state: "completed", hasMismatch: false });
      const changes = ["k=UPPER(k)", "v='ö'", "b=x'00'", "d=d+0.00001", "f=f+f*1.2e-7", "g=g*2", "t=t + INTERVAL 1 MICROSECOND", "s=NULL", "y=0", "z='00:00:00.01'", "e='a'", "m='x'", "bits=b'111'", "l=NULL"];
      for (const [i, change] of changes.entries()) await scene.target(`UPDATE {db}.a SET ${change} WHERE id=${i + 1}`);
      const report = await scene.diff({ maxSamples: 50 });
      expect(report.tables[0]).toMatchObject({ rowsCompared: 100, mismatched: changes.length, missingOnTarget: 0, extraOnTarget: 0 });
      const found = Object.fromEntries((report.tables[0]?.samples ?? []).map((s) => [s.key["id"], s.columns.join()]));
      expect(found).toEqual(Object.fromEntries(changes.map((change, i) => [String(i + 1), change.split("=")[0]])));
    });
  });
}
