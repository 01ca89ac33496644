/** A table with a `where` filter, copied and followed: the target holds exactly the rows for which the source's filter is true (design §4). */
import { expect, it } from "vitest";
import type { MigrationSpecInput } from "../../src/producers/index.js";
import type { HookPoint } from "../../src/workers/hooks.js";
import { DdlScene, Gate } from "./ddl-scene.js";

/** A row without a region is kept by neither filter: NULL is not true, whichever way it is asked. */
const FILTERS = { t: "region = 'eu'", n: "NOT (region = 'us')" };
/** Of a table whose key is the same in any case, and in another character set than the filter. It reads numbers out of text: a server warns of that in a SELECT, and refuses it in a strict DELETE. */
const NAMES_FILTER = "v > 5 OR name = 'ü'";

const tables = (schema: string): MigrationSpecInput["tables"] => [
  ...Object.entries(FILTERS).map(([table, where]) => ({ schema, table, where })),
  { schema, table: "names", where: NAMES_FILTER },
];

const rows = (table: string) =>
  `INSERT INTO ${table} (id, region, u, v) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<900) SELECT i, ELT(1 + i % 4, 'eu', 'us', NULL, 'EU'), i, CONCAT('v', i) FROM n`;
const before = `CREATE TABLE t (id INT PRIMARY KEY, region VARCHAR(10), u INT UNIQUE, v VARCHAR(40)); ${rows("t")}; CREATE TABLE n LIKE t; ${rows("n")};
  CREATE TABLE names (name VARCHAR(20) CHARACTER SET latin1, part ENUM('x','y'), v VARCHAR(20), u INT UNIQUE, PRIMARY KEY (name, part));
  INSERT INTO names VALUES ('a','x','9',1), ('b','x','1',2), ('c','x','none',3), ('d','x',NULL,4), ('e','y','7 or so',5), ('f','y','6',6), ('g','y','6',7)`;

/**
 * One of everything that takes a row into or out of the filter, with the ids from `k` to `k`+87. Of the four rows from an id that 4
 * divides the first and the last are of the region `eu`, the second is of another, the third of none.
 */
function changes(table: string, k: number): string {
  const set = (id: number, what: string) => `UPDATE ${table} SET ${what} WHERE id=${k + id}`;
  return [
    // Out, in, to and from NULL, and out and in again within one transaction.
    set(0, "region='us'"), set(1, "region='eu'"), set(4, "region=NULL"), set(6, "region='eu'"), set(2, "v='none still'"), set(3, "v='in still'"),
    `BEGIN; ${set(8, "region='us'")}; ${set(8, "region='eu', v='back'")}; ${set(9, "region='eu'")}; ${set(9, "region='us'")}; COMMIT`,
    // Keys change, with the filtered column and without.
    set(12, `id=id+10000`), set(13, `id=id+10000`), set(16, `id=id+10000, region='us'`), set(17, `id=id+10000, region='eu'`), set(18, `id=id+10000, region='eu'`),
    // Two rows exchange their keys: one is kept, the other is not.
    `BEGIN; ${set(20, "id=-1")}; ${set(21, `id=${k + 20}`)}; UPDATE ${table} SET id=${k + 21} WHERE id=-1; COMMIT`,
    // Unique values pass from inside to outside, from outside to inside and back, in one transaction and in several.
    `BEGIN; ${set(24, "u=NULL")}; ${set(25, `u=${k + 24}`)}; COMMIT`, `BEGIN; ${set(29, "u=NULL")}; ${set(28, `u=${k + 29}`)}; COMMIT`,
    set(32, "u=NULL"), set(33, `u=${k + 32}`), set(37, "u=NULL"), set(36, `u=${k + 37}`), set(36, "u=NULL"), set(37, `u=${k + 37}`),
    `BEGIN; ${set(40, "u=-1")}; ${set(41, `u=${k + 40}`)}; ${set(40, `u=${k + 41}`)}; COMMIT`,
    // A value goes to a row outside that takes the place of one inside; then the row outside goes.
    `BEGIN; ${set(44, "u=NULL, region='us'")}; ${set(45, `u=${k + 44}, region='eu'`)}; COMMIT`,
    `BEGIN; DELETE FROM ${table} WHERE id=${k + 48}; ${set(49, `u=${k + 48}`)}; COMMIT`, `DELETE FROM ${table} WHERE id=${k + 49}`,
    // Deletes of rows outside, of rows inside, of rows that have just left or come in; ids that are given again.
    `DELETE FROM ${table} WHERE id IN (${k + 53}, ${k + 54}, ${k + 56})`,
    `BEGIN; ${set(60, "region='us'")}; DELETE FROM ${table} WHERE id=${k + 60}; ${set(61, "region='eu'")}; DELETE FROM ${table} WHERE id=${k + 61}; COMMIT`,
    `BEGIN; DELETE FROM ${table} WHERE id=${k + 64}; INSERT INTO ${table} VALUES (${k + 64}, 'us', ${k + 64}, 'again'); COMMIT`,
    `BEGIN; DELETE FROM ${table} WHERE id=${k + 65}; INSERT INTO ${table} VALUES (${k + 65}, 'eu', ${k + 65}, 'again'); COMMIT`,
    `INSERT INTO ${table} VALUES (${k + 20000}, 'eu', ${k + 20000}, 'new'), (${k + 20001}, 'us', ${k + 20001}, 'new'), (${k + 20002}, NULL, ${k + 20002}, 'new')`,
  ].join("; ");
}

/** Keys that are one to the server, in another case and with another filter's answer. */
const NAMES = `UPDATE names SET name='A', v='1' WHERE name='a'; UPDATE names SET name='B', v='8' WHERE name='b'; UPDATE names SET v='10' WHERE name IN ('c', 'd'); UPDATE names SET v='x' WHERE name='e';
  BEGIN; UPDATE names SET u=NULL WHERE name='f'; UPDATE names SET u=6, v='0' WHERE name='g'; UPDATE names SET u=7, part='x' WHERE name='f'; COMMIT;
  INSERT INTO names VALUES ('h','x','6',8), ('h','y','5',9), ('i','x',NULL,10), ('Ü','x',NULL,11), ('u','x','0',12)`;

/** Rows of each table that are on one side only: of the source as its own filter shows them. */
async function differences(scene: DdlScene): Promise<string[]> {
  await scene.caughtUp();
  const found: string[] = [];
  for (const [table, where] of Object.entries({ ...FILTERS, names: NAMES_FILTER })) {
    const name = `${scene.ctx.schema}.${table}`;
    const due = (await scene.ctx.source.query(`SELECT * FROM ${name} WHERE ${where}`)).map((row) => JSON.stringify(row));
    const there = (await scene.ctx.target.query(`SELECT * FROM ${name}`)).map((row) => JSON.stringify(row));
    expect(due.length).toBeGreaterThan(1);
    found.push(...due.filter((row) => !there.includes(row)).map((row) => `${table} lacks ${row}`), ...there.filter((row) => !due.includes(row)).map((row) => `${table} has ${row}`));
  }
  return found;
}

it("rows move into and out of the filter, and unique values between them, before, while and after their chunks are copied, and while streaming", async () => {
  const gate = new Gate();
  gate.close();
  await using scene = await DdlScene.start({ before, hooks: gate, tables, options: { chunkRows: 100, copyConcurrency: 2 } });
  await gate.waiting();
  // The fence stands before these, all chunks but those at the gate are read behind them.
  await scene.source(`${changes("t", 100)}; ${changes("n", 100)}; ${NAMES}`);
  gate.pass();
  await scene.source(`${changes("t", 300)}; ${changes("n", 700)}`);
  expect(await differences(scene)).toEqual([]);
  await scene.source(`${changes("t", 500)}; ${changes("n", 500)}; UPDATE names SET v=IF(part='x', '0', '6')`);
  expect(await differences(scene)).toEqual([]);
  // More rows at once than one statement takes, out and in again.
  await scene.source("UPDATE t SET region=IF(region='eu', 'us', 'eu'); UPDATE n SET region='eu'");
  expect(await differences(scene)).toEqual([]);
  await scene.source("UPDATE n SET region=ELT(1 + id % 2, 'us'); UPDATE n SET region='eu' WHERE id < 20");
  expect(await differences(scene)).toEqual([]);
});

it("a transaction that goes out in parts: rows that an earlier part took in are taken out by a later one", async () => {
  await using scene = await DdlScene.start({ before, tables, options: { chunkRows: 300, batchRows: 10 } });
  await scene.streaming();
  await scene.source(`BEGIN; UPDATE t SET region='eu'; ${changes("t", 100).replaceAll(/BEGIN; |; COMMIT/g, "")}; UPDATE t SET region=ELT(1 + id % 3, 'us', 'eu'); COMMIT`);
  expect(await differences(scene)).toEqual([]);
});

it("the backlog is drained in between: batches write rows of chunks that are not copied yet, under writers that pass unique values to and fro", async () => {
  const gate = new DrainedGate();
  gate.close();
  await using scene = await DdlScene.start({ before, hooks: gate, tables, options: { chunkRows: 40, copyConcurrency: 2, batchRows: 10, backlogBytes: "8KiB" } });
  await gate.waiting();
  await Promise.all([churn(scene, "t", 1), churn(scene, "t", 2), churn(scene, "n", 3)]);
  await gate.drained;
  await churn(scene, "t", 4);
  expect(await differences(scene)).toEqual([]);
});

/** Opens when the first batch is written, which is before any chunk. */
class DrainedGate extends Gate {
  private markDrained: () => void = () => undefined;
  readonly drained = new Promise<void>((resolve) => (this.markDrained = resolve));

  override async at(point: HookPoint): Promise<void> {
    if (point === "batch:after-commit") {
      this.markDrained();
      this.pass();
    }
    await super.at(point);
  }
}

/** Two hundred short transactions; those that meet another writer's value or lock are of no interest. */
async function churn(scene: DdlScene, table: string, seed: number): Promise<void> {
  const db = await scene.ctx.source.connect({ database: scene.ctx.schema });
  let state = seed;
  const below = (n: number) => (state = (state * 48_271) % 2_147_483_647) % n;
  for (let i = 0; i < 200; i++) {
    const [a, b, value] = [1 + below(60) * 15, 1 + below(60) * 15, 1 + below(60) * 15];
    const region = `ELT(${1 + below(4)}, 'eu', 'eu', 'us')`;
    const steps = [
      `UPDATE ${table} SET u=NULL WHERE u=${value}; UPDATE ${table} SET u=${value}, region=${region} WHERE id=${a}`,
      `UPDATE ${table} SET region=${region} WHERE id=${a}`,
      `DELETE FROM ${table} WHERE id=${a} OR u=${value}; INSERT IGNORE INTO ${table} VALUES (${b}, ${region}, ${value}, 'r${seed}-${i}')`,
      `UPDATE IGNORE ${table} SET id=${b}, v='m${seed}-${i}' WHERE id=${a}`,
    ];
    await db.query(`BEGIN; ${steps[below(4)] ?? ""}; COMMIT`).catch(() => db.query("ROLLBACK"));
  }
}
