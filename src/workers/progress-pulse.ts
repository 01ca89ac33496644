/** Tells that a statement which works in silence for long (an index build, an ALTER) is at work: else `status` would call the migration stuck. */
import { every } from "../shared/every.js";
import type { EngineContext, MigrationRef } from "./context.js";

/** Well below what `status` takes for stuck (15 s); milliseconds. */
const INTERVAL = 5_000;

/** Runs `work` and records progress every few seconds meanwhile. A target that cannot be told so will fail the work itself. */
export async function withPulse<T>(context: EngineContext, ref: MigrationRef, signal: AbortSignal, work: () => Promise<T>, interval = INTERVAL): Promise<T> {
  const { connections, state } = context;
  const end = every(interval, () => connections.use(ref.target, "target", signal, (session) => state.migrations.recordProgress(session, ref.migration)));
  try {
    return await work();
  } finally {
    end();
  }
}
