/**
 * Looks at all migrations for everybody who wants to know: the page's events, those who poll, the metrics. However many ask, the
 * servers are asked once a second, and not at all while nobody does.
 */
import { DroverError } from "../../../shared/errors.js";
import type { DroverClient } from "../../client/drover-client.js";
import { DiffCache } from "./diff-cache.js";
import { migrationView, type Snapshot } from "./snapshot.js";

/** A moment of one migration, for the charts: seconds since 1970, rows per second copied and applied, lag in seconds, bytes of backlog. */
export type Point = [at: number, copied: number, applied: number, lag: number | null, backlog: number];

/** What could not be had, for people. */
export interface Trouble {
  code: string;
  message: string;
}

export interface Listener {
  onSnapshot(snapshot: Snapshot): void;
  onTrouble(trouble: Trouble): void;
}

/** milliseconds */
const INTERVAL = 1_000;
const FRESH = 900;
/** Points per migration: ten minutes. */
const HISTORY = 600;

export class ProgressWatch {
  private readonly client: DroverClient;
  private readonly diffs: DiffCache;
  private readonly listeners = new Set<Listener>();
  private readonly points = new Map<string, Point[]>();
  private latest: { at: number; snapshot: Promise<Snapshot> } | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(client: DroverClient) {
    this.client = client;
    this.diffs = new DiffCache(client);
  }

  /** @throws DroverError CONFIG_INVALID, ABORTED */
  snapshot(): Promise<Snapshot> {
    if (this.latest === undefined || Date.now() - this.latest.at > FRESH) this.latest = { at: Date.now(), snapshot: this.look() };
    return this.latest.snapshot;
  }

  /** The last minutes of each migration, as far as somebody looked. */
  history(): Record<string, Point[]> {
    return Object.fromEntries(this.points);
  }

  get listening(): number {
    return this.listeners.size;
  }

  /** @returns ends it */
  subscribe(listener: Listener): () => void {
    this.listeners.add(listener);
    if (this.timer === undefined) this.tick();
    return () => this.listeners.delete(listener);
  }

  close(): void {
    clearTimeout(this.timer);
    this.listeners.clear();
  }

  private tick(): void {
    const began = Date.now();
    const told = this.snapshot().then(
      (snapshot) => this.listeners.forEach((listener) => listener.onSnapshot(snapshot)),
      (error: unknown) => this.listeners.forEach((listener) => listener.onTrouble(troubleOf(error))),
    );
    void told.finally(() => {
      this.timer = this.listeners.size === 0 ? undefined : setTimeout(() => this.tick(), Math.max(100, INTERVAL - (Date.now() - began))).unref();
    });
  }

  private async look(): Promise<Snapshot> {
    const { migrations, unreachable } = await this.client.listMigrations();
    const now = Date.now();
    const ids = migrations.map((status) => status.id);
    this.diffs.keep(ids);
    for (const id of this.points.keys()) if (!ids.includes(id)) this.points.delete(id);
    const views = await Promise.all(migrations.map(async (status) => migrationView(status, await this.diffs.of(status.id), now)));
    for (const view of views) this.record(view.id, [now / 1_000, view.rates.copyRowsPerSecond, view.rates.applyRowsPerSecond, view.lagSeconds, view.backlog.bytes]);
    return { at: new Date(now).toISOString(), migrations: views, unreachable };
  }

  private record(id: string, point: Point): void {
    const list = this.points.get(id) ?? [];
    list.push(point);
    if (list.length > HISTORY) list.splice(0, list.length - HISTORY);
    this.points.set(id, list);
  }
}

function troubleOf(error: unknown): Trouble {
  // An error that is none of ours may say anything.
  if (!(error instanceof DroverError)) return { code: "BUG", message: "unexpected error; the board's log says more" };
  return { code: error.code, message: error.cure === undefined ? error.message : `${error.message} (${error.cure})` };
}
