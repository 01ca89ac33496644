/**
 * A TCP proxy that can cut the line without a word: no FIN, no RST, bytes of both directions just stop. What a server
 * sees of a host that lost its network or its power.
 */
import { connect, createServer, type Server, type Socket } from "node:net";

export class CuttingProxy implements AsyncDisposable {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private cut = false;
  port = 0;

  private constructor(private readonly target: { host: string; port: number }) {
    this.server = createServer((client) => this.accept(client));
  }

  static async open(target: { host: string; port: number }): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(target);
    await new Promise<void>((resolve) => proxy.server.listen(0, "127.0.0.1", resolve));
    const address = proxy.server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    proxy.port = address.port;
    return proxy;
  }

  /** Both ends stay connected and hear nothing any more; new connections are accepted and answered with silence. */
  cutLine(): void {
    this.cut = true;
    for (const socket of this.sockets) socket.pause();
  }

  /** New connections work again; those that were cut stay dead, as after a lost host. */
  mend(): void {
    this.cut = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private accept(client: Socket): void {
    this.sockets.add(client);
    client.on("error", () => undefined);
    client.on("close", () => this.sockets.delete(client));
    if (this.cut) {
      client.pause();
      return;
    }
    const server = connect(this.target);
    this.sockets.add(server);
    server.on("error", () => client.destroy());
    client.on("error", () => server.destroy());
    server.on("close", () => this.sockets.delete(server));
    client.setNoDelay(true);
    server.setNoDelay(true);
    pump(client, server, () => this.cut);
    pump(server, client, () => this.cut);
  }
}

/** `pipe` would pass the end of one side on after a cut. */
function pump(from: Socket, to: Socket, isCut: () => boolean): void {
  from.on("data", (bytes) => {
    if (isCut()) return;
    if (!to.write(bytes)) {
      from.pause();
      to.once("drain", () => {
        if (!isCut()) from.resume();
      });
    }
  });
  from.on("end", () => {
    if (!isCut()) to.end();
  });
  from.on("close", () => {
    if (!isCut()) to.destroy();
  });
}
