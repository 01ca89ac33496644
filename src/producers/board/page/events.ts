/** `/events`: snapshots as server-sent events. `/progress.json`: the latest one, for who cannot listen. */
import type { ServerResponse } from "node:http";
import { DroverError } from "../../../shared/errors.js";
import type { BoardPlugin } from "../plugin.js";

/** A page has one of these; more than this many pages poll. */
const MAX_LISTENERS = 100;
/** Proxies end what is silent; milliseconds. */
const HEARTBEAT = 15_000;
/** What a slow reader may have unread before it is passed over (bytes), and for how long (milliseconds). */
const MAX_UNREAD = 512 * 1024;
const SLOW_LIMIT = 30_000;

export const progressPlugin: BoardPlugin = (scope, { watch }) => {
  scope.get("/progress.json", async (_request, reply) => reply.header("cache-control", "no-store").send(await watch.snapshot()));

  scope.get("/events", async (_request, reply) => {
    if (watch.listening >= MAX_LISTENERS) throw new DroverError("SERVER_BUSY", `${MAX_LISTENERS} pages listen already`, { cure: "ask for /progress.json now and then instead" });
    reply.hijack();
    const stream = new EventStream(reply.raw);
    stream.send("history", watch.history());
    const unsubscribe = watch.subscribe({ onSnapshot: (snapshot) => stream.send("snapshot", snapshot), onTrouble: (trouble) => stream.send("trouble", trouble) });
    reply.raw.on("close", () => {
      unsubscribe();
      stream.end();
    });
  });

  scope.addHook("onClose", async () => watch.close());
};

class EventStream {
  private readonly response: ServerResponse;
  private readonly heartbeat: NodeJS.Timeout;
  private slowSince: number | null = null;

  constructor(response: ServerResponse) {
    this.response = response;
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store", "x-accel-buffering": "no", "x-content-type-options": "nosniff" });
    response.write("retry: 2000\n\n");
    this.heartbeat = setInterval(() => this.write(": still here\n\n"), HEARTBEAT);
    this.heartbeat.unref();
  }

  send(event: string, data: unknown): void {
    this.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  end(): void {
    clearInterval(this.heartbeat);
  }

  /** Every event is whole in itself, so a reader that does not keep up misses some, and nothing piles up here. */
  private write(text: string): void {
    if (this.response.writableLength > MAX_UNREAD) {
      this.slowSince ??= Date.now();
      if (Date.now() - this.slowSince > SLOW_LIMIT) this.response.destroy();
      return;
    }
    this.slowSince = null;
    this.response.write(text);
  }
}
