/** pt-table-checksum on the source alone: half of what it does in service, since its replicas do the other half. */
import type { MysqlServer } from "../../scripts/servers/index.js";
import { SCHEMA } from "../data.js";
import { unpackPeer } from "./peer.js";

export type Checksummer = (server: MysqlServer) => Promise<void>;

export async function tableChecksumPeer(): Promise<Checksummer> {
  const unpacked = await unpackPeer("percona-toolkit");
  return async (server) => {
    const address = `h=${server.host},P=${server.port},u=${server.user},p=${server.password}`;
    await unpacked.run("pt-table-checksum", [address, "--recursion-method=none", "--no-check-binlog-format", `--databases=${SCHEMA}`, "--no-version-check"]);
  };
}
