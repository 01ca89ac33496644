/** A TCP proxy that holds back every byte for a while, in both directions: a distant server. */
import { connect, createServer, type Server, type Socket } from "node:net";

export class DelayingProxy implements AsyncDisposable {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();

  private constructor(target: { host: string; port: number }, delay: number) {
    this.server = createServer({ noDelay: true }, (client) => {
      const server = connect({ ...target, noDelay: true });
      for (const socket of [client, server]) {
        this.sockets.add(socket);
        socket.on("close", () => this.sockets.delete(socket));
      }
      forward(client, server, delay);
      forward(server, client, delay);
    });
  }

  /** @param delay milliseconds on the way there, and the same on the way back */
  static async open(target: { host: string; port: number }, delay: number): Promise<DelayingProxy> {
    const proxy = new DelayingProxy(target, delay);
    await new Promise<void>((resolve) => proxy.server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    const address = this.server.address();
    if (address === null || typeof address === "string") throw new Error("the proxy has no port");
    return address.port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }
}

/** Timers of one duration fire in the order in which they were set, so bytes keep theirs. */
function forward(from: Socket, to: Socket, delay: number): void {
  from.on("data", (bytes) => setTimeout(() => to.destroyed || to.write(bytes), delay));
  from.on("end", () => setTimeout(() => to.end(), delay));
  from.on("error", () => to.destroy());
  from.on("close", () => setTimeout(() => to.destroy(), delay));
}
