/**
 * Sends batches to the chain one after the other, and says when the reader must wait: for Redis while too much is on
 * its way, for the applier while the backlog is at its limit (flow control).
 */
import { DroverError } from "../../shared/errors.js";
import type { BatchInfo } from "../../shared/backlog/batch.js";
import type { BacklogChain, Tip } from "../../shared/backlog/chain.js";
import type { Hooks } from "../hooks.js";

export interface SenderOptions {
  chain: BacklogChain;
  tip: Tip;
  /** Bytes in the backlog at which reading stops. */
  limit: number;
  /** Bytes on their way to Redis at which reading stops. */
  window: number;
  hooks: Hooks;
  migration: string;
  /** Called with true when reading must stop, with false when it may go on. */
  onPressure: (stop: boolean) => void;
}

export type NewBatch = Omit<BatchInfo, "chain" | "epoch" | "seq" | "from">;


export class BatchSender {
  private readonly options: SenderOptions;
  private readonly queue: { batch: NewBatch; payload: Buffer }[] = [];
  private tip: Tip;
  private waitingBytes = 0;
  private backlogBytes = 0;
  private backlogBatches = 0;
  private pressed = false;
  private sending: Promise<void> | null = null;
  private failure: Error | null = null;
  private closed = false;

  constructor(options: SenderOptions) {
    this.options = options;
    this.tip = options.tip;
  }

  /** Whether the reader was told to stop because of the backlog. */
  get full(): boolean {
    return this.backlogBytes >= this.options.limit;
  }

  /** Nothing waits in the backlog or on its way: the next batch is needed at once. */
  get idle(): boolean {
    return this.waitingBytes === 0 && this.backlogBytes < 1;
  }

  /** Batches that the applier has before it, as far as is known. */
  get queued(): number {
    return this.backlogBatches + this.queue.length;
  }

  send(batch: NewBatch, payload: Buffer): void {
    this.queue.push({ batch, payload });
    this.waitingBytes += payload.length;
    this.press();
    this.sending ??= this.drain();
  }

  /** Waits until all batches are in Redis. @throws what `drain` met: FENCE_MOVED when this tail is not the one any more */
  async flush(): Promise<void> {
    while (this.sending) await this.sending;
    if (this.failure !== null) throw this.failure;
  }

  /**
   * On a quiet source no batch would tell that what was sent is void.
   * @throws DroverError FENCE_MOVED when the chain is not this tail's any more
   */
  async requireOurs(): Promise<void> {
    const { tip } = this;
    if (this.sending !== null || (await this.options.chain.endsAt(tip))) return;
    // What is being sent since the look says so itself.
    if (this.sending === null && this.tip === tip) throw new DroverError("FENCE_MOVED", "another tail has taken over, or what was sent is void");
  }

  /** Looks how far the applier came; lets the reader go on when there is room. */
  async refresh(): Promise<void> {
    const { batches, bytes } = await this.options.chain.size();
    this.backlogBatches = batches;
    this.backlogBytes = bytes;
    this.press();
  }

  close(): void {
    this.closed = true;
  }

  get failed(): Error | null {
    return this.failure;
  }

  private async drain(): Promise<void> {
    try {
      for (let next = this.queue[0]; next && !this.closed; next = this.queue[0]) {
        const { batch, payload } = next;
        const info: BatchInfo = { ...batch, chain: this.tip.chain, epoch: this.tip.epoch, seq: this.tip.seq + 1, from: this.tip.position };
        const detail = { migration: this.options.migration, seq: info.seq };
        await this.options.hooks.at("batch:before-enqueue", detail);
        const total = await this.options.chain.append(this.tip, info, payload);
        if (total === null) throw new DroverError("FENCE_MOVED", "another tail has taken over, or Redis was emptied or started anew");
        await this.options.hooks.at("batch:after-enqueue", { ...detail, transactions: info.transactions, bytes: payload.length });
        this.tip = { chain: info.chain, run: this.tip.run, epoch: info.epoch, seq: info.seq, position: info.to, ...(info.barrier === true ? { barrier: true } : {}) };
        this.queue.shift();
        this.waitingBytes -= payload.length;
        this.backlogBytes = total;
        this.backlogBatches += 1;
        this.press();
      }
    } catch (error) {
      this.failure = error instanceof Error ? error : new Error(String(error));
      this.options.onPressure(true);
    } finally {
      this.sending = null;
    }
  }

  private press(): void {
    // Going on only at half the limit keeps the reader from stopping at every batch.
    const low = this.pressed ? 0.5 : 1;
    const stop = this.waitingBytes >= this.options.window * low || this.backlogBytes >= this.options.limit * low;
    if (stop === this.pressed) return;
    this.pressed = stop;
    this.options.onPressure(stop);
  }
}

/** How often the tail looks whether the applier made room, in milliseconds. */
export const BACKLOG_POLL = 50;
