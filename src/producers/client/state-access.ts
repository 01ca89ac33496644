/** Where a migration's state is, and how commands name what is there. The view on MySQL is loaded when it is first needed. */
import type { Config } from "../../shared/config.js";
import type { CallOptions } from "./call-options.js";
import type { CommandChannel } from "./command-channel.js";
import { notFound, type FoundMigration } from "./migration-finder.js";
import type { StateView } from "./state-view.js";

/** The view, with a signal that also fires when the client is closed. */
export interface OpenView {
  view: StateView;
  signal: AbortSignal;
}

export class StateAccess {
  private readonly config: Config;
  private readonly channel: CommandChannel;
  private loaded: Promise<StateView> | undefined;

  constructor(options: { config: Config; channel: CommandChannel }) {
    this.config = options.config;
    this.channel = options.channel;
  }

  async open({ signal }: CallOptions = {}): Promise<OpenView> {
    const { config, channel } = this;
    this.loaded ??= import("./state-view.js").then(({ StateView }) => new StateView({ config, backlog: (id) => channel.backlog(id), workerPresent: () => channel.workerPresent() }));
    const view = await this.loaded;
    return { view, signal: view.signal(signal) };
  }

  /** @throws DroverError NOT_FOUND, CONNECTION_LOST */
  async locate(id: string, options: CallOptions): Promise<OpenView & { found: FoundMigration }> {
    const { view, signal } = await this.open(options);
    const { found, unreachable } = await view.finder.find(id, signal);
    if (found === null) throw notFound(id, unreachable);
    return { view, signal, found };
  }

  /** How a command's payload names a migration. @throws DroverError NOT_FOUND, CONNECTION_LOST */
  async reference(id: string, options: CallOptions): Promise<{ migration: string; target: string }> {
    const { found } = await this.locate(id, options);
    return { migration: id, target: found.target };
  }

  /** How a command's payload names a diff; `last` is the newest. @throws DroverError NOT_FOUND, CONNECTION_LOST */
  async diffReference(id: string, diffId: string, options: CallOptions): Promise<{ migration: string; target: string; diffId: string }> {
    const { view, signal, found } = await this.locate(id, options);
    return { migration: id, target: found.target, diffId: await view.diffs.resolve(found, diffId, signal) };
  }

  /** Whether the settings name this connection: a service that only enqueues need not know any. */
  knows(connection: string): boolean {
    return this.config.connections.has(connection.toUpperCase());
  }

  async close(): Promise<void> {
    (await this.loaded)?.close();
  }
}
