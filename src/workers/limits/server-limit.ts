/** One limit of one server as one worker keeps it: who waits here, what is held here, and what goes on to the next without asking Redis. */
import { DroverError, abortedError } from "../../shared/errors.js";
import type { LimitKind, LimitUse } from "../../shared/mysql/admission.js";
import { RENEWAL, STANDING, type MostTokens, type Places } from "./places.js";

/** How long somebody waits before it gives way, in milliseconds: below the servers' lock waits, since it may hold a lock. */
const PATIENCE = 3_000;
/** Between two questions to Redis while somebody waits, with as much again at random. */
const ASK_AGAIN = 25;
/** A place goes from hand to hand within a worker for this long; then it is free for the others (milliseconds). */
const OWN_TIME = 1_000;

interface Waiter {
  use: LimitUse;
  give: (token: string) => void;
}

export interface ServerLimitOptions {
  server: string;
  kind: LimitKind;
  limit: number;
  places: Places;
  /** What this worker's tokens begin with. */
  worker: string;
  /** Whether Redis can be asked now. */
  redisReady: () => boolean;
}

export class ServerLimit {
  private readonly options: ServerLimitOptions;
  private readonly held = new Map<string, number>();
  private readonly waiting: Waiter[] = [];
  private readonly renewal: NodeJS.Timeout;
  private asking: NodeJS.Timeout | "now" | null = null;
  private count = 0;

  constructor(options: ServerLimitOptions) {
    this.options = options;
    this.renewal = setInterval(() => void this.renew(), RENEWAL);
    this.renewal.unref();
  }

  /** @throws DroverError LIMIT_REACHED, ABORTED */
  async admit(use: LimitUse, signal: AbortSignal): Promise<() => void> {
    // Without Redis no job begins; what is under way may end.
    if (!this.options.redisReady()) return () => undefined;
    const token = await this.wait(use, signal);
    let given = false;
    return () => {
      if (given) return;
      given = true;
      this.free(token);
    };
  }

  close(): void {
    clearInterval(this.renewal);
    if (this.asking !== "now" && this.asking !== null) clearTimeout(this.asking);
    for (const token of this.held.keys()) void this.options.places.giveBack(token).catch(() => undefined);
    this.held.clear();
  }

  private wait(use: LimitUse, signal: AbortSignal): Promise<string> {
    const { server, kind, limit } = this.options;
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { use, give: (token) => end(() => resolve(token)) };
      const onAbort = () => end(() => reject(abortedError(signal)));
      const timer = setTimeout(
        () => end(() => reject(new DroverError("LIMIT_REACHED", `${server}: all of its ${limit} ${kind} (DROVER_LIMITS_${server}) are taken by other work`, { cure: "it is tried again; raise the limit when it lasts" }))),
        PATIENCE,
      );
      const end = (settle: () => void) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        const at = this.waiting.indexOf(waiter);
        if (at >= 0) this.waiting.splice(at, 1);
        settle();
      };
      if (signal.aborted) return onAbort();
      signal.addEventListener("abort", onAbort, { once: true });
      this.waiting.push(waiter);
      this.askSoon(0);
    });
  }

  /** To the next one here, unless this worker has had it for long enough. */
  private free(token: string): void {
    const since = this.held.get(token);
    const young = since !== undefined && Date.now() - since < OWN_TIME;
    // A standing one asks for itself, and a place of the reserve is not for everybody.
    const next = young && !token.startsWith(STANDING) ? (this.waiting.find((waiter) => waiter.use === "nested") ?? this.waiting.find((waiter) => waiter.use === "outer")) : undefined;
    if (next !== undefined && (next.use === "nested" || this.held.size <= mostFor(this.options.limit, "outer").all)) return next.give(token);
    this.held.delete(token);
    if (this.options.redisReady()) void this.options.places.giveBack(token).catch(() => undefined).then(() => this.askSoon(0));
  }

  private askSoon(delay: number): void {
    if (this.asking !== null || this.waiting.length === 0) return;
    this.asking = setTimeout(() => {
      this.asking = "now";
      void this.ask()
        .catch(() => false)
        .then((room) => {
          this.asking = null;
          // Who came while Redis was asked waits for no pause: that is for those that found no room.
          this.askSoon(room ? 0 : ASK_AGAIN + Math.random() * ASK_AGAIN);
        });
    }, delay);
  }

  /** @returns whether there was room for all that were asked for */
  private async ask(): Promise<boolean> {
    let room = true;
    for (const use of ["nested", "standing", "outer"] as const) {
      const wanted = this.waiting.filter((waiter) => waiter.use === use).map(() => `${use === "standing" ? STANDING : ""}${this.options.worker}.${++this.count}`);
      if (wanted.length === 0) continue;
      const given = await this.options.places.take(mostFor(this.options.limit, use), [...this.held.keys()], wanted);
      room &&= given === wanted.length;
      for (const token of wanted.slice(0, given)) {
        this.held.set(token, Date.now());
        const waiter = this.waiting.find((one) => one.use === use);
        // It lost its patience meanwhile.
        if (waiter === undefined) this.free(token);
        else waiter.give(token);
      }
    }
    return room;
  }

  private async renew(): Promise<void> {
    if (this.held.size === 0 || !this.options.redisReady()) return;
    await this.options.places.take({ all: 0 }, [...this.held.keys()], []).catch(() => undefined);
  }
}

/** Of a limit, a part is kept for those that hold something already; and those that stay for long leave room for work. */
function mostFor(limit: number, use: LimitUse): MostTokens {
  const reserve = limit < 4 ? 0 : Math.max(1, Math.floor(limit / 8));
  if (use === "nested") return { all: limit };
  if (use === "outer") return { all: limit - reserve };
  return { all: limit - reserve, standing: Math.max(1, limit - reserve - Math.max(2, Math.floor(limit / 4))) };
}
