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

  /** Runs `work` with the view. */
  async open<T>({ signal: given }: CallOptions, work: (open: OpenView) => Promise<T>): Promise<T> {
    const { config, channel } = this;
    this.loaded ??= import("./state-view.js").then(({ StateView }) => new StateView({ config, backlog: (id) => channel.backlog(id), workerPresent: () => channel.workerPresent() }));
    const view = await this.loaded;
    return await view.during(given, (signal) => work({ view, signal }));
  }

  /** The same, with the migration. @throws DroverError NOT_FOUND, CONNECTION_LOST */
  async locate<T>(id: string, options: CallOptions, work: (open: OpenView & { found: FoundMigration }) => Promise<T>): Promise<T> {
    return await this.open(options, async ({ view, signal }) => {
      const { found, unreachable } = await view.finder.find(id, signal);
      if (found === null) throw notFound(id, unreachable);
      return await work({ view, signal, found });
    });
  }

  /** How a command's payload names a migration. @throws DroverError NOT_FOUND, CONNECTION_LOST */
  async reference(id: string, options: CallOptions): Promise<{ migration: string; target: string }> {
    return await this.locate(id, options, async ({ found }) => ({ migration: id, target: found.target }));
  }

  /** How a command's payload names a diff; `last` is the newest. @throws DroverError NOT_FOUND, CONNECTION_LOST */
  async diffReference(id: string, diffId: string, options: CallOptions): Promise<{ migration: string; target: string; diffId: string }> {
    return await this.locate(id, options, async ({ view, signal, found }) => ({ migration: id, target: found.target, diffId: await view.diffs.resolve(found, diffId, signal) }));
  }

  /** Whether the settings name this connection: a service that only enqueues need not know any. */
  knows(connection: string): boolean {
    return this.config.connections.has(connection.toUpperCase());
  }

  async close(): Promise<void> {
    (await this.loaded)?.close();
  }
}
