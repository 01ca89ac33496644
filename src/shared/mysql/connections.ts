/**
 * The sessions of one process: opened when needed, lent to one user at a time, kept for a moment, destroyed after any
 * error (design §5). Idle sessions are closed after a second, long before the server's own bound, so that the source
 * never sees many sleeping connections of ours.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";
import { NEVER } from "../abort.js";
import { DroverError, abortedError } from "../errors.js";
import { connectionAddress, type Config } from "../config.js";
import type { Admission } from "./admission.js";
import type { ByteSql } from "./bytes.js";
import type { MysqlSession } from "./mysql-session.js";
import { openSession, type SessionRole } from "./open-session.js";
import type { ServerAddress } from "./server-address.js";
import type { Session } from "./session.js";
import type { SessionObserver } from "./session-observer.js";

const IDLE_LIMIT = 1_000;
/** How long a server may need until it counts a session no more that others closed, in milliseconds. */
const LET_GO = 500;

export interface ConnectionsOptions {
  config: Config;
  /** Identity of this process in `session_connect_attrs`. */
  worker: string;
  observer?: SessionObserver;
  /** Limits per server; default none. */
  admission?: Admission;
}

export class Connections {
  private readonly config: Config;
  private readonly worker: string;
  private readonly observer: SessionObserver | undefined;
  /** Undefined: no limits. */
  private readonly admission: Admission | undefined;
  /** The servers on which the work under way holds a session. */
  private readonly holding = new AsyncLocalStorage<readonly string[]>();
  private readonly idle = new Map<string, { session: MysqlSession; since: number }[]>();
  private readonly lent = new Set<Session>();
  private readonly sweeper: NodeJS.Timeout;
  private closed = false;
  /** What the workers of one deployment have in common: its Redis, prefix and state schema. Sessions carry it. */
  readonly deployment: string;

  constructor(options: ConnectionsOptions) {
    this.config = options.config;
    this.worker = options.worker;
    this.observer = options.observer;
    this.admission = options.admission;
    this.deployment = deploymentOf(options.config);
    this.sweeper = setInterval(() => this.sweep(), 500);
    this.sweeper.unref();
  }

  /** @throws DroverError CONFIG_INVALID when no connection has that name */
  address(name: string): ServerAddress {
    return connectionAddress(this.config, name);
  }

  /**
   * Runs `work` with a session. It goes back to the pool only when `work` succeeded; otherwise it is destroyed, which ends
   * whatever it held on the server. That no transaction is open when `work` returns is for `work` to see to: nobody looks.
   * @throws DroverError CONNECTION_LOST, STATEMENT_REFUSED, LIMIT_REACHED, ABORTED, or what `work` throws
   */
  async use<T>(name: string, role: SessionRole, signal: AbortSignal, work: (session: Session) => Promise<T>): Promise<T> {
    if (this.admission === undefined) return await this.lendOne(name, role, signal, work);
    if (signal.aborted) throw abortedError(signal);
    const held = this.holding.getStore() ?? [];
    const server = name.toUpperCase();
    return await this.holding.run([...held, server], () =>
      this.lendOne(name, role, signal, async (session) => {
        // Whoever holds a session of this server waits for the new one, and so runs no statement on the other.
        const done = held.includes(server) ? undefined : await this.admission?.admit(server, "statements", held.length > 0 ? "nested" : "outer", signal);
        try {
          return await work(session);
        } finally {
          done?.();
        }
      }),
    );
  }

  /** Room for sessions that somebody else opens, such as the binlog's. */
  async reserve(name: string, sessions: number, signal: AbortSignal): Promise<() => void> {
    const releases: (() => void)[] = [];
    const release = () => releases.forEach((one) => one());
    if (this.admission === undefined) return release;
    try {
      for (let i = 0; i < sessions; i++) releases.push(await this.admission.admit(name, "connections", i === 0 ? "standing" : "outer", signal));
    } catch (error) {
      release();
      throw error;
    }
    // The server counts them for a moment longer.
    return () => void setTimeout(release, LET_GO).unref();
  }

  private async lendOne<T>(name: string, role: SessionRole, signal: AbortSignal, work: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.take(name, role, signal);
    this.lent.add(session);
    let good = false;
    try {
      const result = await work(session);
      good = true;
      return result;
    } finally {
      this.lent.delete(session);
      if (good && session.usable && !this.closed) this.giveBack(`${name.toUpperCase()}/${role}`, session);
      else session.destroy();
    }
  }

  /** One transaction: BEGIN, `work`, COMMIT. An error destroys the session, which rolls back. */
  transaction<T>(name: string, role: SessionRole, signal: AbortSignal, work: (session: Session) => Promise<T>): Promise<T> {
    return this.use(name, role, signal, async (session) => {
      await session.run("BEGIN" as ByteSql);
      const result = await work(session);
      await session.run("COMMIT" as ByteSql);
      return result;
    });
  }

  /** How many sessions there are now. */
  count(): { lent: number; idle: number } {
    return { lent: this.lent.size, idle: [...this.idle.values()].reduce((sum, list) => sum + list.length, 0) };
  }

  /** Destroys every session; what they held is released by the servers at once. */
  close(): void {
    this.closed = true;
    clearInterval(this.sweeper);
    for (const list of this.idle.values()) for (const { session } of list) session.end();
    this.idle.clear();
    for (const session of this.lent) session.destroy();
  }

  private async take(name: string, role: SessionRole, signal: AbortSignal): Promise<MysqlSession> {
    if (signal.aborted) throw abortedError(signal);
    if (this.closed) throw new DroverError("ABORTED", "the connections are closed");
    const list = this.idle.get(`${name.toUpperCase()}/${role}`) ?? [];
    for (let entry = list.pop(); entry; entry = list.pop()) {
      entry.session.lend(signal);
      if (entry.session.usable && Date.now() - entry.since < IDLE_LIMIT) return entry.session;
      entry.session.end();
    }
    const address = this.address(name);
    if (this.admission === undefined) return await this.open(address, role, signal);
    const nested = (this.holding.getStore()?.length ?? 0) > 1;
    const release = await this.admission.admit(name, "connections", nested ? "nested" : "outer", signal);
    try {
      const session = await this.open(address, role, signal);
      session.whenClosed(release);
      return session;
    } catch (error) {
      release();
      throw error;
    }
  }

  private open(address: ServerAddress, role: SessionRole, signal: AbortSignal): Promise<MysqlSession> {
    return openSession(address, { role, signal, worker: this.worker, deployment: this.deployment, observer: this.observer });
  }

  private giveBack(key: string, session: MysqlSession): void {
    session.lend(NEVER);
    const list = this.idle.get(key);
    const entry = { session, since: Date.now() };
    if (list) list.push(entry);
    else this.idle.set(key, [entry]);
  }

  private sweep(): void {
    for (const list of this.idle.values()) {
      for (let i = list.length - 1; i >= 0; i--) {
        const entry = list[i];
        if (!entry || (entry.session.usable && Date.now() - entry.since < IDLE_LIMIT)) continue;
        entry.session.end();
        list.splice(i, 1);
      }
    }
  }
}

function deploymentOf(config: Config): string {
  const { host, pathname } = new URL(config.redisUrl);
  return createHash("sha256").update(JSON.stringify([host, pathname, config.prefix, config.stateSchema])).digest("hex").slice(0, 16);
}
