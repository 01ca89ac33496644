/** The worker that is killed in the middle of the copy, and what its death costs. */
import type { MigrationStatus } from "../../src/producers/index.js";
import type { DroverProcess, LogLine } from "./processes.js";

export interface KillFigures {
  worker: string;
  /** Share of the rows that had been copied, 0 to 1. */
  atShare: number;
  /** Jobs that it had been working on, by their kind: each was started over by another worker. */
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
    // a job's id begins with what the job does: `chunk.shop.1.12`, `tail.shop`
    const kinds = this.#takeovers.map((line) => String(line["id"]).split(".", 1)[0] ?? "");
    for (const kind of kinds) takenOver[kind] = (takenOver[kind] ?? 0) + 1;
    const rows = status.tables.reduce((sum, table) => sum + table.rowsCopied, 0);
    const all = status.tables.reduce((sum, table) => sum + table.chunksDone, 0);
    const last = this.#takeovers.at(-1);
    return {
      worker: this.name,
      atShare: this.#killedShare,
      takenOver,
      redoneRows: all === 0 ? 0 : Math.round(((takenOver["chunk"] ?? 0) * rows) / all),
      seconds: last === undefined ? null : (last.at - this.#killedAt) / 1000,
    };
  }
}
