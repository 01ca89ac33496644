/**
 * Users by a header that a proxy in front of the board sets after it has checked who they are (OIDC and the like). The
 * header counts only on connections that come from the proxy itself: everybody else could write it.
 */
import { BlockList, isIPv6 } from "node:net";
import type { IncomingHttpHeaders } from "node:http";

export class TrustedHeader {
  private readonly header: string;
  private readonly proxies = new BlockList();

  /** @param proxies addresses or networks (`10.0.0.0/8`), checked by `loadConfig` */
  constructor(options: { header: string; proxies: readonly string[] }) {
    this.header = options.header.toLowerCase();
    for (const proxy of options.proxies) {
      const [address = "", bits] = proxy.split("/");
      const family = isIPv6(address) ? "ipv6" : "ipv4";
      if (bits === undefined) this.proxies.addAddress(address, family);
      else this.proxies.addSubnet(address, Number(bits), family);
    }
  }

  /** @param from the address of the connection itself, not of `X-Forwarded-For`, which anybody may write */
  user(from: string | undefined, headers: IncomingHttpHeaders): string | null {
    if (from === undefined || !this.knows(from)) return null;
    const value = headers[this.header];
    return typeof value === "string" && value.trim() !== "" ? value.trim().slice(0, 200) : null;
  }

  private knows(from: string): boolean {
    // An IPv4 connection to a socket that listens on both.
    const address = from.replace(/^::ffff:(?=\d+\.)/i, "");
    return this.proxies.check(address, isIPv6(address) ? "ipv6" : "ipv4");
  }
}
