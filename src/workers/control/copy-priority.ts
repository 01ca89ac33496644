/**
 * Which copy job comes first when many migrations copy over the same workers.
 *
 * Each migration has a window of `copyConcurrency` jobs, so those of one priority share the workers by turns (BullMQ is first
 * in, first out within a priority). Among equals, whoever has had little goes first: a small migration is done long before
 * a huge one is, and costs it no more than its own few chunks. Nobody waits for ever: see `WAITED_LONG`.
 */
import type { MigrationSpec } from "../../shared/contracts/spec.js";

/** Levels of having had little: each stands for twice the chunks of the one before. */
const LEVELS = 10;

/** A job at the head of its migration's window that waited this long (milliseconds) goes before all that did not. */
export const WAITED_LONG = 20_000;
export const FIRST_OF_ALL = 1;

/** @param chunk the next chunk to copy, from 1: chunks are copied in order, so its numbers tell how much is done without counting */
export function copyPriority(spec: MigrationSpec, table: number, chunk: number): number {
  const before = table - 1 + Math.max(0, chunk - 1);
  const level = Math.min(LEVELS - 1, before === 0 ? 0 : 1 + Math.floor(Math.log2(before)));
  return FIRST_OF_ALL + spec.options.priority * LEVELS + level;
}
