import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { jobDataSchema, jobTitle, shownData } from "../../../../src/producers/board/job-data.js";
import { QUEUE_NAMES } from "../../../../src/shared/queue-names.js";

test("each queue has a schema of its jobs' data", () => {
  const valid = Object.fromEntries(QUEUE_NAMES.map((name) => [name, new Ajv2020({ strict: false }).compile(jobDataSchema(name))]));
  const ref = { migration: "shop", target: "DST" };
  expect(valid["copy"]?.({ ...ref, table: 1, chunk: 7 })).toBe(true);
  expect(valid["tail"]?.(ref)).toBe(true);
  expect(valid["control"]?.({ ...ref, diffId: "d1" })).toBe(true);
  expect(valid["control"]?.({ spec: { id: "shop", source: "SRC", target: "DST", tables: [{ schema: "shop" }] } })).toBe(true);
  for (const name of QUEUE_NAMES) expect(valid[name]?.({ ...ref, colour: "red" })).toBe(false);
});

test("a job's title says what it is about", () => {
  expect(jobTitle("chunk", { migration: "shop", target: "DST", table: 3, chunk: 12 })).toBe("chunk shop 3/12");
  expect(jobTitle("start", { spec: { id: "shop" } })).toBe("start shop");
  expect(jobTitle("diff-scheduled", { migration: "shop", schedule: "hourly" })).toBe("diff-scheduled shop hourly");
  for (const data of [undefined, null, "text", [], { spec: null }]) expect(jobTitle("start", data)).toBe("start");
});

test("a URL with a password, put where a connection's name belongs, is shown without it", () => {
  const shown = shownData({ spec: { source: "mysql://root:p@ss@db1:3306/", target: "DST", tables: [{ schema: "shop", where: "a = 'x@y'" }] }, n: 1, none: null });
  expect(shown).toEqual({ spec: { source: "mysql://…@db1:3306/", target: "DST", tables: [{ schema: "shop", where: "a = 'x@y'" }] }, n: 1, none: null });
});
