/** Definitions that a server does not tell as they are, or that the other family takes for something else: exact, or refused by name. */
import { createConnection, type Connection, type RowDataPacket } from "mysql2/promise";
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { openServers, type Servers } from "../../scripts/servers/index.js";
import { DroverClient, loadConfig, type MigrationSpecInput } from "../../src/producers/index.js";
import { createLogger } from "../../src/shared/logger.js";
import { runWorker } from "../../src/workers/index.js";

type Pair = "mysql-mysql" | "mysql-mariadb" | "mariadb-mysql" | "mariadb-mariadb";

let servers: Servers;
const urls: Record<string, { source: string; target: string }> = {};

beforeAll(async () => {
  servers = await openServers({});
  const [source, target] = await Promise.all([servers.mysql({ name: "odd-source", flavor: "mariadb" }), servers.mysql({ name: "odd-target", flavor: "mariadb" })]);
  urls["mariadb"] = { source: source.url, target: target.url };
  urls["mysql"] = inject("servers");
}, 180_000);
afterAll(async () => {
  await servers?.close();
});

/** One migration of one schema: `db` in statements is its name. */
class Move implements AsyncDisposable {
  readonly db = `odd_${randomBytes(5).toString("hex")}`;
  readonly client: DroverClient;
  private constructor(private readonly env: Record<string, string>, readonly source: Connection, readonly target: Connection) {
    this.client = new DroverClient({ config: loadConfig(env) });
  }

  static async begin(pair: Pair, before: string, charset = "utf8mb4"): Promise<Move> {
    const [from, to] = pair.split("-") as [string, string];
    const [source, target] = [urls[from]?.source ?? "", urls[to]?.target ?? ""];
    const open = (uri: string) => createConnection({ uri, charset, multipleStatements: true });
    const prefix = `odd-${randomBytes(5).toString("hex")}`;
    const env = { DROVER_REDIS_URL: inject("servers").redis, DROVER_PREFIX: prefix, DROVER_STATE_SCHEMA: prefix.replace("-", "_state_"), DROVER_CONNECTION_SRC: source, DROVER_CONNECTION_DST: target };
    const move = new Move(env, await open(source), await open(target));
    await move.source.query(`SET sql_mode='', time_zone='+00:00'; CREATE DATABASE ${move.db} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin; USE ${move.db}; ${before}`);
    await move.target.query("SET sql_mode='', time_zone='+00:00'");
    return move;
  }

  private get spec(): MigrationSpecInput {
    return { id: "m", source: "SRC", target: "DST", tables: [{ schema: this.db }] };
  }

  async problems(options: MigrationSpecInput["options"] = {}): Promise<string[]> {
    return (await this.client.check({ ...this.spec, options })).filter((finding) => finding.severity === "error").map(({ code, message, cure }) => `${code} ${message} -- ${cure}`);
  }

  /** Copies, then follows `during`; the error that stops it, or null. */
  async run(during: string, options: MigrationSpecInput["options"] = {}): Promise<string | null> {
    const worker = await runWorker({ config: loadConfig(this.env), log: createLogger("silent") });
    try {
      await this.client.startMigration({ ...this.spec, options });
      await this.client.waitFor("m", "streaming", { timeout: 90_000 });
      await this.source.query(during);
      await this.client.waitFor("m", "caught-up", { timeout: 90_000 });
      return null;
    } catch (error) {
      const status = await this.client.status("m");
      if (status.phase !== "failed") throw error;
      return `${status.error?.code}: ${status.error?.message}`;
    } finally {
      await worker.close();
    }
  }

  /** The answer of both servers. */
  async both(statement: string): Promise<[unknown, unknown]> {
    const ask = async (db: Connection) => (await db.query<RowDataPacket[]>(statement))[0];
    return [await ask(this.source), await ask(this.target)];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
    for (const db of [this.source, this.target]) {
      await db.query(`DROP DATABASE IF EXISTS ${this.db}; DROP DATABASE IF EXISTS ${this.env["DROVER_STATE_SCHEMA"]}`);
      db.destroy();
    }
  }
}

describe("expressions and defaults", () => {
  it("MySQL: literals that a latin1 client wrote keep their bytes", async () => {
    await using move = await Move.begin("mysql-mysql", "CREATE TABLE t (id INT PRIMARY KEY, c VARCHAR(9) DEFAULT (CONCAT('\u00e9')), k VARCHAR(9) AS (IF(c = 'z\u00e9', 'yes', 'no')) STORED, CHECK (c <> '\u00e9\u00e9')); INSERT INTO t (id, c) VALUES (1, 'z\u00e9')", "latin1");
    expect(await move.run("INSERT INTO t (id, c) VALUES (2, 'z\u00e9'), (3, 'x')")).toBeNull();
    await move.target.query(`INSERT INTO ${move.db}.t (id) VALUES (9)`);
    await move.source.query("INSERT INTO t (id) VALUES (9)");
    const [wanted, found] = await move.both(`SELECT id, HEX(c), k FROM ${move.db}.t ORDER BY id`);
    expect(found).toEqual(wanted);
    await expect(move.target.query(`INSERT INTO ${move.db}.t (id, c) VALUES (10, '\u00e9\u00e9')`)).rejects.toMatchObject({ errno: 3819 });
  }, 200_000);

  it.each(["mariadb-mariadb", "mariadb-mysql"] as const)("%s: defaults that SHOW CREATE TABLE shows with question marks, or as bytes that are no characters", async (pair) => {
    await using move = await Move.begin(pair, "CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT '\u{1f600}?', b VARBINARY(9) DEFAULT X'FF0027', c BINARY(3) DEFAULT X'00FF', d VARCHAR(9) CHARACTER SET utf32 COLLATE utf32_bin DEFAULT '\u{20000}', e VARCHAR(9) DEFAULT 'really?' COMMENT 'DEFAULT ''?''')");
    expect(await move.run("INSERT INTO t (id) VALUES (1)")).toBeNull();
    await move.target.query(`INSERT INTO ${move.db}.t (id) VALUES (2)`);
    await move.source.query("INSERT INTO t (id) VALUES (2)");
    const [wanted, found] = await move.both(`SELECT id, HEX(a), HEX(b), HEX(c), HEX(d), HEX(e) FROM ${move.db}.t ORDER BY id`);
    expect(found).toEqual(wanted);
  }, 200_000);

  it("MySQL to MariaDB: backslashes, quotes and far characters in an expression", async () => {
    await using move = await Move.begin("mysql-mariadb", String.raw`CREATE TABLE t (id INT PRIMARY KEY, c VARCHAR(9), k VARCHAR(40) AS (CONCAT(c, 'a\\b''c${"\u{1f600}"}', "_utf8mb4'")) STORED); INSERT INTO t (id, c) VALUES (1, 'x')`);
    expect(await move.run("INSERT INTO t (id, c) VALUES (2, 'y')")).toBeNull();
    const [wanted, found] = await move.both(`SELECT id, HEX(k) FROM ${move.db}.t ORDER BY id`);
    expect(found).toEqual(wanted);
  }, 200_000);

  it("MySQL to MariaDB: a literal of another character set is refused, by the check and without it", async () => {
    await using move = await Move.begin("mysql-mariadb", "CREATE TABLE t (id INT PRIMARY KEY, c VARCHAR(9) DEFAULT (CONCAT(_latin1 X'E9')))");
    expect(await move.problems()).toEqual([expect.stringMatching(/^expression-literal DST: the expression of c of odd_\w+\.t has a literal of the character set latin1/)]);
    expect(await move.run("SELECT 1")).toMatch(/^UNDECODABLE: .* expression of c of odd_\w+\.t /);
  }, 200_000);

  it("what the target refuses to create names the table", async () => {
    await using move = await Move.begin("mariadb-mysql", "CREATE TABLE t (id INT PRIMARY KEY CHECK (1))");
    expect(await move.run("SELECT 1")).toMatch(/^STATEMENT_REFUSED: the target table odd_\w+\.t could not be created: DST: .*\(errno 3812\)/);
  }, 200_000);
});

describe("members of ENUM and SET that no server shows", () => {
  it.each(["mysql-mysql", "mariadb-mariadb", "mysql-mariadb"] as const)("%s: refused; with a target table made by hand its rows are exact", async (pair) => {
    const create = "CREATE TABLE t (id INT PRIMARY KEY, e ENUM('\u{1f600}','\u{1f601}') CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, s SET('a','\u{20000}?') CHARACTER SET utf32 COLLATE utf32_bin, l ENUM('?') CHARACTER SET latin1 COLLATE latin1_bin)";
    await using move = await Move.begin(pair, `${create}; INSERT INTO t VALUES (1, 2, 3, 1)`);
    expect(await move.problems()).toEqual([expect.stringMatching(/^column-members SRC: odd_\w+\.t: the columns e, s have members with a "\?".* -- create the target table by hand/)]);
    await move.target.query(`CREATE DATABASE ${move.db} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin; USE ${move.db}; ${create}`);
    expect(await move.problems({ existingTarget: "resume" })).toEqual([]);
    expect(await move.run("INSERT INTO t VALUES (2, 1, 1, 0)", { existingTarget: "resume" })).toBeNull();
    const [wanted, found] = await move.both(`SELECT id, e+0, HEX(e), s+0, HEX(s), l FROM ${move.db}.t ORDER BY id`);
    expect(found).toEqual(wanted);
  }, 200_000);
});

describe("rows", () => {
  it.each(["mariadb-mariadb", "mariadb-mysql"] as const)("%s: geometries among text of several character sets are followed", async (pair) => {
    await using move = await Move.begin(pair, `CREATE TABLE t (g GEOMETRY, a VARCHAR(30) CHARACTER SET latin1, p POINT NOT NULL, k BINARY(4), b VARCHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, v VARBINARY(9), pol POLYGON, c CHAR(10) CHARACTER SET ucs2, e ENUM('x') CHARACTER SET latin2, PRIMARY KEY (k));
      INSERT INTO t VALUES (NULL, 'a', POINT(1, 2), X'00', 'b', X'00', NULL, 'c', 1)`);
    expect(await move.run("UPDATE t SET a=X'E9', b='\u00f6', c='\u00e4', v=X'0100'; INSERT INTO t VALUES (POINT(5, 6), '\u00e9', POINT(7, 8), X'0102', '\u4e2d', X'20', ST_GeomFromText('POLYGON((0 0,1 0,1 1,0 0))'), '', 0), (NULL, NULL, POINT(0, 0), X'FF', NULL, NULL, NULL, NULL, NULL)")).toBeNull();
    const [wanted, found] = await move.both(`SELECT HEX(g), HEX(a), HEX(p), HEX(k), HEX(b), HEX(v), HEX(pol), HEX(c), e+0 FROM ${move.db}.t ORDER BY k`);
    expect(found).toEqual(wanted);
  }, 200_000);

  it("MariaDB: a unique key on a BLOB, which has a hidden column in the binlog", async () => {
    await using move = await Move.begin("mariadb-mariadb", "CREATE TABLE t (id INT PRIMARY KEY, b BLOB, UNIQUE (b)); INSERT INTO t VALUES (1, REPEAT('x', 5000)), (2, NULL)");
    expect(await move.run("UPDATE t SET b='y' WHERE id=1; INSERT INTO t VALUES (3, REPEAT('x', 5000))")).toBeNull();
    const [wanted, found] = await move.both(`SELECT id, HEX(b) FROM ${move.db}.t ORDER BY id`);
    expect(found).toEqual(wanted);
  }, 200_000);

  it("JSON of 32 levels is more than MariaDB takes: the error names table, constraint and cure; 31 levels go", async () => {
    const nested = (levels: number) => `CONCAT(REPEAT('[', ${levels}), REPEAT(']', ${levels}))`;
    await using move = await Move.begin("mysql-mariadb", `CREATE TABLE t (id INT PRIMARY KEY, j JSON); INSERT INTO t VALUES (1, ${nested(31)})`);
    expect(await move.run(`INSERT INTO t VALUES (2, ${nested(32)})`)).toMatch(/^ROW_REFUSED: a row of odd_\w+\.t \(key id\) was refused: DST: CONSTRAINT `t\.j` failed .*31 levels/);
  }, 200_000);
});
