/** The backlog in Redis. Each method is one command (or one script), atomic by itself and nothing beyond that. */
import type { NetEffect } from "./net-effect.js";

export interface Tip {
  epoch: number;
  seq: number;
  position: number;
}

export interface BatchInfo {
  epoch: number;
  seq: number;
  from: number;
  to: number;
  partial: boolean;
}

export class Chain {
  tip: Tip | null = null;
  private list: BatchInfo[] = [];
  private payloads = new Map<string, NetEffect>();
  private readonly bySeqAlone: boolean;

  constructor(bySeqAlone: boolean) {
    this.bySeqAlone = bySeqAlone;
  }

  get length(): number {
    return this.list.length;
  }

  /** Succeeds only where the batch begins at the tip. */
  append(at: Tip, info: BatchInfo, payload: NetEffect): boolean {
    if (this.tip === null || !sameTip(this.tip, at)) return false;
    this.list.push(info);
    this.payloads.set(this.key(info), payload);
    this.tip = { epoch: info.epoch, seq: info.seq, position: info.to };
    return true;
  }

  head(): BatchInfo | undefined {
    return this.list[0];
  }

  payload(info: BatchInfo): NetEffect | undefined {
    return this.payloads.get(this.key(info));
  }

  drop(head: BatchInfo): void {
    const first = this.list[0];
    if (first === undefined || JSON.stringify(first) !== JSON.stringify(head)) return;
    this.list.shift();
    this.payloads.delete(this.key(head));
  }

  deleteTip(): void {
    this.tip = null;
  }

  deleteBatches(): void {
    this.list = [];
    this.payloads.clear();
  }

  flushAll(): void {
    this.deleteTip();
    this.deleteBatches();
  }

  /** A new chain has an epoch of its own, so these two never mean another batch. */
  private key({ epoch, seq }: BatchInfo): string {
    return this.bySeqAlone ? String(seq) : `${epoch}.${seq}`;
  }
}

function sameTip(a: Tip, b: Tip): boolean {
  return a.epoch === b.epoch && a.seq === b.seq && a.position === b.position;
}
