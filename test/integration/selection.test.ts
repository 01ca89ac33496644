/** The selection of tables on a real server: names of every kind (case 31), and what the server calls a table. */
import { expect, it } from "vitest";
import { parseMigrationSpec } from "../../src/shared/contracts/spec.js";
import { loadConfig } from "../../src/shared/config.js";
import { Connections } from "../../src/shared/mysql/connections.js";
import { resolveTables } from "../../src/shared/selection/index.js";
import { testContext } from "../support/context.js";

const NAMES = ["select", "a.b", "50%", "it's", 'say "x"', "tick`s", "back\\slash", "with space", "größe", "日本", "a/b", "a-b", "A_B", "a_b", "*", "?", "emoji€"];

it("finds tables under every name, in one order, and takes patterns for what they say", async () => {
  await using ctx = await testContext();
  const quote = (name: string) => `\`${name.replaceAll("`", "``")}\``;
  const schema = `${ctx.id} o'd"d.%`;
  await ctx.source.query(`CREATE DATABASE ${quote(schema)}`);
  for (const name of NAMES) await ctx.source.query(`CREATE TABLE ${quote(schema)}.${quote(name)} (id INT PRIMARY KEY)`);
  await ctx.source.query(`CREATE VIEW ${quote(schema)}.\`a view\` AS SELECT 1 AS one`);
  const config = loadConfig(ctx.env);
  const connections = new Connections({ config, worker: "selection-test" });
  const resolve = (tables: unknown[]) =>
    connections.use("SRC", "source", new AbortController().signal, (session) => resolveTables(session, parseMigrationSpec({ id: "m", source: "SRC", target: "DST", tables })));
  const found = async (include: string[], exclude: string[] = []) => (await resolve([{ schema, include, exclude }])).tables.map((table) => table.source.table);
  try {
    const all = await resolve([{ schema }]);
    expect(all.problems).toEqual([]);
    expect(all.passedOver).toEqual([`${schema}.a view`]);
    expect(all.tables.map((table) => table.source.table)).toEqual([...NAMES].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
    expect(await found(["a?b"])).toEqual(["a-b", "a.b", "a/b", "a_b"]);
    expect(await found(["?"])).toEqual(["*", "?"]);
    expect(await found(["??"])).toEqual(["日本"]);
    expect(await found(["50%", "a_b"])).toEqual(["50%", "a_b"]);
    expect(await found(["*s*"], ["*e*"])).toEqual(["back\\slash", "it's", 'say "x"', "tick`s"]);
    for (const table of NAMES) expect((await resolve([{ schema, table }])).tables).toEqual([{ source: { schema, table }, target: { schema, table }, where: null }]);
    expect((await resolve([{ schema, table: "a view" }, { schema: `${schema}x`, table: "t" }, { schema, include: ["zz*"] }])).problems.map((p) => p.code)).toEqual(["table-kind", "schema-missing", "pattern-empty"]);
  } finally {
    connections.close();
  }
});
