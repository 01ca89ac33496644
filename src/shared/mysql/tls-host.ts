/** The name that a server's certificate must be of (`ssl=verify`). */
import type { Connection } from "mysql2";

/**
 * With an IP address as host mysql2 gives Node no name to compare the certificate with. Node takes the socket's then, which has one only
 * when it looked one up, and otherwise "localhost": a certificate of that name would do for every address, and one of the address for none.
 * To be called right after the connection was made, before its handshake.
 */
export function nameSocket(connection: Connection, host: string): void {
  const { stream } = connection as unknown as { stream: { _host?: string | null } };
  stream._host ??= host;
}
