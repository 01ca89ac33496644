/** A job that ought to exist. Engines say what is needed; the processors put it into the queue. */
import type { QueueName } from "../../shared/queues.js";
import { jobIds } from "../../shared/queues.js";
import type { MigrationRef } from "../context.js";

export interface JobRequest {
  queue: QueueName;
  /** The job's name in its queue's contract (`contracts/jobs.ts`). */
  name: string;
  /** At most one job of an id exists at a time. */
  id: string;
  data: Record<string, unknown>;
  /** The job goes on for as long as the migration lives: each of its runs is a trace of its own. */
  ownTrace?: boolean;
  /** BullMQ's: the lowest number first; jobs without one before all that have one. */
  priority?: number;
}

export const requests = {
  advance: (ref: MigrationRef): JobRequest => ({ queue: "control", name: "advance", id: jobIds.advance(ref.migration), data: { ...ref } }),
  cutover: (ref: MigrationRef): JobRequest => ({ queue: "control", name: "cutover-advance", id: jobIds.cutover(ref.migration), data: { ...ref } }),
  plan: (ref: MigrationRef, table: number, priority: number): JobRequest => ({ queue: "copy", name: "plan", id: jobIds.plan(ref.migration, table), data: { ...ref, table }, priority }),
  chunk: (ref: MigrationRef, table: number, chunk: number, priority: number): JobRequest => ({
    queue: "copy", name: "chunk", id: jobIds.chunk(ref.migration, table, chunk), data: { ...ref, table, chunk }, priority,
  }),
  index: (ref: MigrationRef, table: number, priority: number): JobRequest => ({ queue: "copy", name: "index", id: jobIds.index(ref.migration, table), data: { ...ref, table }, priority }),
  tail: (ref: MigrationRef): JobRequest => ({ queue: "tail", name: "tail", id: jobIds.tail(ref.migration), data: { ...ref }, ownTrace: true }),
  apply: (ref: MigrationRef): JobRequest => ({ queue: "apply", name: "apply", id: jobIds.apply(ref.migration), data: { ...ref }, ownTrace: true }),
};
