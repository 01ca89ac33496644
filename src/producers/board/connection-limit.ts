/**
 * A bound on connections that keeps serving: at the limit the one that has asked nothing for longest makes room for the
 * new one. So connections that are held open without a request, also a thousand of them, shut nobody out.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

export function limitConnections(server: Server, most: number): void {
  /** Connections without a request under way, in the order in which they became so; a Set keeps it. */
  const idle = new Set<Socket>();
  const busy = new Map<Socket, number>();

  server.on("connection", (socket: Socket) => {
    if (idle.size + busy.size >= most) {
      const [oldest] = idle;
      // All are at work: the new one has to come again.
      if (oldest === undefined) return void socket.destroy();
      idle.delete(oldest);
      oldest.destroy();
    }
    idle.add(socket);
    socket.once("close", () => {
      idle.delete(socket);
      busy.delete(socket);
    });
  });

  server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    idle.delete(socket);
    busy.set(socket, (busy.get(socket) ?? 0) + 1);
    response.once("close", () => {
      const left = (busy.get(socket) ?? 1) - 1;
      if (left > 0) return void busy.set(socket, left);
      busy.delete(socket);
      if (!socket.destroyed) idle.add(socket);
    });
  });
}
