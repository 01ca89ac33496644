/** What an engine gets: one object built by the composition root (`worker.ts`); nothing of it is module-level state. */
import type { Config } from "../shared/config.js";
import type { Logger } from "../shared/logger.js";
import type { Connections } from "../shared/mysql/connections.js";
import type { State } from "../shared/state/state.js";
import type { Hooks } from "./hooks.js";

export interface EngineContext {
  config: Config;
  log: Logger;
  connections: Connections;
  state: State;
  /** Identity of this process, as in `session_connect_attrs`. */
  worker: string;
  hooks: Hooks;
}

/** One migration as an engine sees it: its id and the connection whose state schema holds it. */
export interface MigrationRef {
  migration: string;
  target: string;
}
