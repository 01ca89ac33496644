import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { jsonSchemas } from "../../../src/producers/json-schemas.js";

const root = fileURLToPath(new URL("../../../schema/", import.meta.url));

test("schema/ is what the contracts say now (else: npm run schema)", () => {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".json")).sort();
  const expected = jsonSchemas();
  expect(files).toEqual([...expected.keys()].sort());
  for (const [name, schema] of expected) expect(JSON.parse(readFileSync(root + name, "utf8"))).toEqual(schema);
});

test("the start command's schema shows both forms of a table selection", () => {
  const text = JSON.stringify(jsonSchemas().get("control/start.schema.json"));
  for (const key of ["targetTable", "where", "include", "exclude", "chunkRows"]) expect(text).toContain(`"${key}"`);
});
