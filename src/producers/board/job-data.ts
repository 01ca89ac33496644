/** What Bull Board says of the jobs of each queue: what they are about, and what their data may be. */
import type { z } from "zod";
import { controlJobs, copyJobs, diffJobs, leaseJob } from "../../shared/contracts/jobs.js";
import type { QueueName } from "../../shared/queue-names.js";
import { jsonSchema, type JsonSchema } from "../json-schemas.js";

const JOBS: Record<QueueName, Readonly<Record<string, z.ZodType>>> = { control: controlJobs, copy: copyJobs, tail: { tail: leaseJob }, apply: { apply: leaseJob }, diff: diffJobs };

export const QUEUE_DESCRIPTIONS: Record<QueueName, string> = {
  control: "commands, and the reconciler's turns",
  copy: "chunks of tables, planning, indexes",
  tail: "leases on reading a source's binlog",
  apply: "leases on applying batches to a target",
  diff: "comparisons",
};

/** The data of any job of a queue, by its job's name; whoever adds one by hand is helped by it. A worker validates it all the same. */
export function jobDataSchema(queue: QueueName): JsonSchema {
  const forms = Object.entries(JOBS[queue]).map(([name, contract]) => {
    const { $schema: _, ...form } = jsonSchema(contract, name);
    return { ...form, description: `data of a job named "${name}"` };
  });
  return { $schema: "https://json-schema.org/draft/2020-12/schema", title: `Jobs of Drover's queue "${queue}"`, anyOf: forms };
}

/** `chunk shop 3/12`: what a job is about, from its payload. */
export function jobTitle(name: string, data: unknown): string {
  const { migration, spec, diffId, schedule, table, chunk } = (data ?? {}) as { migration?: unknown; spec?: { id?: unknown }; diffId?: unknown; schedule?: unknown; table?: unknown; chunk?: unknown };
  const place = [table, chunk].filter((part) => typeof part === "number").join("/");
  return [name, migration ?? spec?.id, diffId ?? schedule, place].filter((part): part is string => typeof part === "string" && part !== "").join(" ");
}

/** A job's data as it is shown. Ours holds names and ids only; in a job of another program somebody may have put a server's URL where its name belongs. */
export function shownData(data: unknown): unknown {
  if (typeof data === "string") return data.replace(/\b([a-z][a-z0-9+.-]*:\/\/)\S*@/gi, "$1…@");
  if (Array.isArray(data)) return data.map(shownData);
  if (typeof data !== "object" || data === null) return data;
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, shownData(value)]));
}
