/** The worker that is killed in the middle of the copy, and what its death costs. */
import type { MigrationStatus } from "../../src/producers/index.js";
import type { DroverProcess, LogLine } from "./processes.js";

export interface KillFigures {
  worker: string;
  /** Share of the rows that had been copied, 0 to 1. */
  atShare: number;
  /** Jobs that it had been working on, by queue: each was started over by another worker. */
  takenOver: Record<string, number>;
  /** About how many rows were read and written twice: those of its chunks. */
  redoneRows: number;
  /** From the kill to the last take-over; null when it had nothing under way. */
  seconds: number | null;
}

export class Victim {
  readonly #process: DroverProcess;
  readonly #atShare: number;
  readonly #takeovers: LogLine[] = [];
  #killedAt: number | undefined;
  #killedShare = 0;
  #death: Promise<void> | undefined;

  constructor(process: DroverProcess, atShare: number) {
    this.#process = process;
    this.#atShare = atShare;
  }

  get name(): string {
    return this.#process.name;
  }

  get killed(): boolean {
    return this.#killedAt !== undefined;
  }

  /** Kills it once the copy is as far as it should be. @returns whether it was now */
  killWhenDue(copiedShare: number): boolean {
    if (this.#killedAt !== undefined || copiedShare < this.#atShare) return false;
    this.#killedAt = performance.now();
    this.#killedShare = copiedShare;
    this.#death = this.#process.kill();
    return true;
  }

  /** The log of the others: BullMQ says there which jobs had stalled. */
  onLog(line: LogLine): void {
    if (this.#killedAt !== undefined && line.msg === "a job had stalled and is taken over") this.#takeovers.push(line);
  }

  /** @param status of the finished copy */
  async figures(status: MigrationStatus): Promise<KillFigures | null> {
    if (this.#killedAt === undefined) return null;
    await this.#death;
    const takenOver: Record<string, number> = {};
    for (const { queue } of this.#takeovers) takenOver[String(queue)] = (takenOver[String(queue)] ?? 0) + 1;
    const chunks = this.#takeovers.filter((line) => String(line["id"]).startsWith("chunk.")).length;
    const rows = status.tables.reduce((sum, table) => sum + table.rowsCopied, 0);
    const all = status.tables.reduce((sum, table) => sum + table.chunksDone, 0);
    const last = this.#takeovers.at(-1);
    return {
      worker: this.name,
      atShare: this.#killedShare,
      takenOver,
      redoneRows: all === 0 ? 0 : Math.round((chunks * rows) / all),
      seconds: last === undefined ? null : (last.at - this.#killedAt) / 1000,
    };
  }
}
