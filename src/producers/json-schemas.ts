/** The contracts as JSON Schema, for programs in any language: what may be written, before defaults are filled in. */
import { z } from "zod";
import { cutoverReport } from "../shared/contracts/cutover.js";
import { diffReport, diffSchedule, repairReport } from "../shared/contracts/diff.js";
import { controlJobs, type ControlJobName } from "../shared/contracts/jobs.js";
import { encodedError, finding } from "../shared/contracts/problem.js";
import { migrationSpec, patternSelection, selection, tableSelection } from "../shared/contracts/spec.js";
import { migrationStatus } from "../shared/contracts/status.js";

export type JsonSchema = Record<string, unknown>;

/** The workers' own turns: nobody else enqueues them. */
const INTERNAL: readonly ControlJobName[] = ["advance", "reconcile", "cutover-advance", "diff-scheduled"];

/** What commands print with `--json`, by the command. Keys may be added. */
const OUTPUTS: Record<string, z.ZodType> = {
  status: migrationStatus,
  "status-all": z.array(migrationStatus),
  diff: diffReport,
  "diff-list": z.array(diffReport),
  "diff-repair": repairReport,
  cutover: cutoverReport,
  "diff-schedule": diffSchedule,
  "diff-schedules": z.array(diffSchedule),
  "diff-unschedule": z.object({ id: z.string(), name: z.string() }),
  check: z.object({ ok: z.boolean(), problems: z.array(finding) }),
  start: z.object({ id: z.string() }),
  init: z.object({
    spec: migrationSpec,
    server: z.string(),
    tables: z.array(
      z.object({
        schema: z.string(), table: z.string(), rows: z.number().describe("the server's estimate"), bytes: z.number().describe("data and indexes"),
        key: z.object({ index: z.string(), columns: z.array(z.string()) }).nullable(),
        obstacles: z.array(z.object({ message: z.string(), cure: z.string() })).describe("why it is not in the spec; empty when it is"),
      }),
    ),
    passedOver: z.array(z.string()).describe("what is no base table"),
  }),
  grants: z.object({ source: z.array(z.string()).optional(), target: z.array(z.string()).optional() }),
  board: z.object({ url: z.string() }),
  "diff-delete": diffReport,
  "diff-start": z.object({ diffId: z.string() }),
  error: z.object({ error: encodedError }),
};

/** By file name in `schema/`. */
export function jsonSchemas(): Map<string, JsonSchema> {
  const files = new Map<string, JsonSchema>([["migration-spec.schema.json", jsonSchema(migrationSpec, "Drover migration spec")]]);
  for (const [name, contract] of Object.entries(controlJobs)) {
    if (INTERNAL.includes(name as ControlJobName)) continue;
    files.set(`control/${name}.schema.json`, jsonSchema(contract, `Payload of the job "${name}" of Drover's queue "control"`));
  }
  for (const [name, contract] of Object.entries(OUTPUTS)) files.set(`output/${name}.schema.json`, jsonSchema(contract, `What drover prints: ${name}`));
  return files;
}

export function jsonSchema(contract: z.ZodType, title?: string): JsonSchema {
  const schema = z.toJSONSchema(contract, {
    io: "input",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema: target }) => {
      // An entry of `tables` is told apart by its keys in code, which zod cannot show as a schema.
      if (zodSchema === selection) Object.assign(target, { anyOf: [tableSelection, patternSelection].map(nested) });
    },
  }) as JsonSchema;
  return title === undefined ? schema : { $schema: schema["$schema"], title, ...schema };
}

function nested(contract: z.ZodType): JsonSchema {
  const { $schema: _, ...schema } = z.toJSONSchema(contract, { io: "input", unrepresentable: "any" }) as JsonSchema;
  return schema;
}
