/** `npm run schema`: writes `schema/` from the contracts. A unit test fails when it was forgotten. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { jsonSchemas } from "../src/producers/json-schemas.js";

const root = fileURLToPath(new URL("../schema/", import.meta.url));

for (const [name, schema] of jsonSchemas()) {
  const file = `${root}${name}`;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(schema, null, 2)}\n`);
  console.log(`schema/${name}`);
}
