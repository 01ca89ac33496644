/** The OpenAPI 3.1 document of the API, from the operations and their contracts. */
import { readFileSync } from "node:fs";
import type { z } from "zod";
import { cutoverReport } from "../../shared/contracts/cutover.js";
import { diffOptions, diffReport, diffSchedule, repairReport } from "../../shared/contracts/diff.js";
import { startDiffRequest } from "../../shared/contracts/http.js";
import { finding, problemDocument } from "../../shared/contracts/problem.js";
import { migrationSpec } from "../../shared/contracts/spec.js";
import { migrationStatus } from "../../shared/contracts/status.js";
import { jsonSchema, type JsonSchema } from "../json-schemas.js";
import type { Operation } from "./operation.js";

/** Contracts that have a name in the document; programs that are generated from it get a type for each. */
const NAMED = new Map<z.ZodType, string>([
  [migrationSpec, "MigrationSpec"], [migrationStatus, "MigrationStatus"],
  [diffOptions, "DiffOptions"], [startDiffRequest, "DiffRequest"], [diffSchedule, "DiffSchedule"], [diffReport, "DiffReport"], [repairReport, "RepairReport"], [cutoverReport, "CutoverReport"],
  [finding, "Finding"], [problemDocument, "Problem"],
]);

export interface DocumentOptions {
  /** What the paths begin with. */
  base: string;
  operations: readonly Operation[];
}

export function openApiDocument({ base, operations }: DocumentOptions): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const operation of operations) (paths[base + operation.path] ??= {})[operation.method.toLowerCase()] = operationObject(operation);
  return {
    openapi: "3.1.0",
    info: {
      title: "Drover", version: version(),
      description: "Moves MySQL tables between live servers. Validation and errors are the same as those of the command line and of DroverClient.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ token: [] }, { session: [], csrf: [] }],
    paths,
    components: {
      schemas: Object.fromEntries([...NAMED].map(([contract, name]) => [name, schemaOf(contract)])),
      responses: { Problem: { description: "what is wrong, all of it, with cures (RFC 9457)", content: { "application/problem+json": { schema: reference("Problem") } } } },
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "DROVER_API_TOKEN; not needed where the board listens on loopback without one" },
        session: { type: "apiKey", in: "cookie", name: "drover_session", description: "of browsers, after a login" },
        csrf: { type: "apiKey", in: "header", name: "x-drover-csrf", description: "csrfToken of GET /session; with the cookie, for what changes something" },
      },
    },
  };
}

function operationObject({ id, summary, description, path, query, body, answers }: Operation): JsonSchema {
  const parameters = [...pathParameters(path), ...(query === undefined ? [] : queryParameters(query))];
  return {
    operationId: id, summary, ...(description === undefined ? {} : { description }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: body.required, content: content(body.contract) } }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, { description: answer.description, content: content(answer.contract) }])),
      "4XX": { $ref: "#/components/responses/Problem" },
      "5XX": { $ref: "#/components/responses/Problem" },
    },
  };
}

function pathParameters(path: string): JsonSchema[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: "path", required: true, schema: { type: "string", pattern: "^[a-z0-9_-]{1,64}$" } }));
}

function queryParameters(query: z.ZodObject): JsonSchema[] {
  return Object.entries(query.shape).map(([name, contract]) => ({ name, in: "query", schema: schemaOf(contract as z.ZodType) }));
}

function content(contract: z.ZodType): JsonSchema {
  const name = NAMED.get(contract);
  return { "application/json": { schema: name === undefined ? schemaOf(contract) : reference(name) } };
}

function reference(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

function schemaOf(contract: z.ZodType): JsonSchema {
  const { $schema: _, ...schema } = jsonSchema(contract);
  return schema;
}

function version(): string {
  return (JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as { version: string }).version;
}
