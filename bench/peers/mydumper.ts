/** mydumper and myloader with four threads each, over files of this machine. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MysqlServer } from "../../scripts/servers/index.js";
import { SCHEMA } from "../data.js";
import type { CopyPeer } from "../jobs/copy.js";
import { unpackPeer } from "./peer.js";

const THREADS = 4;

export async function mydumperPeer(targetBinlog: boolean): Promise<CopyPeer> {
  const unpacked = await unpackPeer("mydumper");
  return {
    copy: async (source, target) => {
      const folder = await mkdtemp(join(tmpdir(), "drover-bench-dump-"));
      try {
        await unpacked.run("mydumper", [...access(source), `--threads=${THREADS}`, `--database=${SCHEMA}`, `--outputdir=${folder}`]);
        await unpacked.run("myloader", [...access(target), `--threads=${THREADS}`, `--directory=${folder}`, ...(targetBinlog ? ["--enable-binlog"] : [])]);
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  };
}

function access(server: MysqlServer): string[] {
  return [`--host=${server.host}`, `--port=${server.port}`, `--user=${server.user}`, `--password=${server.password}`];
}
