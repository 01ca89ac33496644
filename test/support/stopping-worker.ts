/**
 * A worker in a process of its own that stops itself (SIGSTOP) at a hook, once, when it is told to: at that very point, which
 * a signal from outside would meet by luck only. Told by a message that names the point; it says so before it stops.
 */
import { loadConfig } from "../../src/shared/config.js";
import { createLogger } from "../../src/shared/logger.js";
import { runWorker } from "../../src/workers/index.js";

let stopAt: unknown = null;
process.on("message", (point) => (stopAt = point));

const worker = await runWorker({
  config: loadConfig(process.env),
  log: createLogger(process.env["DROVER_LOG_LEVEL"] ?? "silent"),
  hooks: {
    at: async (point, detail) => {
      if (point !== stopAt) return;
      stopAt = null;
      await new Promise((resolve) => process.send?.({ stopped: detail["seq"] }, resolve));
      process.kill(process.pid, "SIGSTOP");
    },
  },
});
process.once("SIGTERM", () => void worker.close().then(() => process.exit(0)));
process.send?.({ ready: true });
