/** The backlog in Redis. Each method is one command (or one script), atomic by itself and nothing beyond that. */
import type { NetEffect } from "./net-effect.js";

export interface Tip {
  /** Given when a chain begins, never again. */
  chain: number;
  epoch: number;
  seq: number;
  position: number;
  /** The server's run in which the chain began: it does not outlive it. */
  run: number;
}

export interface BatchInfo {
  chain: number;
  epoch: number;
  seq: number;
  from: number;
  to: number;
  /** It ends within a transaction. */
  partial: boolean;
}

export class Chain {
  private current: Tip | null = null;
  private list: BatchInfo[] = [];
  private payloads = new Map<string, NetEffect>();
  private names = 0;
  private runs = 0;
  private snapshot: { tip: Tip | null; list: BatchInfo[]; payloads: Map<string, NetEffect> } = { tip: null, list: [], payloads: new Map() };

  get tip(): Tip | null {
    return this.current;
  }

  /** Another one after each restart and after each promotion. */
  get run(): number {
    return this.runs;
  }

  get length(): number {
    return this.list.length;
  }

  /** Succeeds only where the batch begins at the tip, in the run in which the chain began. */
  append(at: Tip, info: BatchInfo, payload: NetEffect, trustsSnapshots = false): boolean {
    if (at.run !== this.runs && !trustsSnapshots) return false;
    if (JSON.stringify(this.current) !== JSON.stringify(at)) return false;
    this.list.push(info);
    this.payloads.set(this.key(info), payload);
    this.current = { chain: info.chain, epoch: info.epoch, seq: info.seq, position: info.to, run: at.run };
    return true;
  }

  head(): BatchInfo | undefined {
    return this.list[0];
  }

  payload(info: BatchInfo): NetEffect | undefined {
    return this.payloads.get(this.key(info));
  }

  drop(head: BatchInfo): void {
    if (!this.beginsWith(head)) return;
    this.list.shift();
    this.payloads.delete(this.key(head));
  }

  /** Empties the chain and begins a new one. */
  beginAnew(at: Omit<Tip, "chain">): Tip {
    this.clear();
    this.current = { chain: ++this.names, ...at };
    return this.current;
  }

  /** Removes every key; with `head` only while that is the chain's head. FLUSHALL does the same. */
  clear(head?: BatchInfo): void {
    if (head !== undefined && !this.beginsWith(head)) return;
    this.current = null;
    this.list = [];
    this.payloads.clear();
  }

  /** Redis writes its snapshot. */
  save(): void {
    this.snapshot = { tip: this.current, list: [...this.list], payloads: new Map(this.payloads) };
  }

  /** Redis comes back with its latest snapshot, or a replica that lagged takes its place. */
  restore(): void {
    this.runs += 1;
    this.current = this.snapshot.tip;
    this.list = [...this.snapshot.list];
    this.payloads = new Map(this.snapshot.payloads);
  }

  private beginsWith(head: BatchInfo): boolean {
    return JSON.stringify(this.list[0]) === JSON.stringify(head);
  }

  private key({ chain, seq }: BatchInfo): string {
    return `${chain}:${seq}`;
  }
}
