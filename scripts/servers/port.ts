import { createServer } from "node:net";
import type { AddressInfo } from "node:net";

/** A port of 127.0.0.1 that was free a moment ago. Whoever binds it may still lose a race and should ask again. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}
