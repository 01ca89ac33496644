/** A server's data folder on a file system of a fixed size, which a test can fill: the only way to meet a real ENOSPC. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, statfs, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { MysqlServer } from "../../scripts/servers/index.js";

const run = promisify(execFile);

/** Whether this process may mount; only root may, and not in every container. */
export async function mayMount(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), "drover-mount-"));
  try {
    await run("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]);
    await run("umount", [folder]);
    return true;
  } catch {
    return false;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export class SmallDisk implements AsyncDisposable {
  private constructor(private readonly folder: string) {}

  /** Moves the data of a running server to a file system of `megabytes`; the server is restarted for it. */
  static async under(server: MysqlServer & { dataDir: string }, megabytes: number): Promise<SmallDisk> {
    await server.stop();
    const folder = server.dataDir;
    const kept = `${folder}.kept`;
    await run("cp", ["-a", folder, kept]);
    await run("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder]);
    const disk = new SmallDisk(folder);
    try {
      await run("cp", ["-aT", kept, folder]);
      await rm(kept, { recursive: true });
      await server.start();
      return disk;
    } catch (error) {
      await disk[Symbol.asyncDispose]();
      throw error;
    }
  }

  private get ballast(): string {
    return join(this.folder, "ballast");
  }

  /** Takes all that is free. */
  async fill(): Promise<void> {
    const { bavail, bsize } = await statfs(this.folder);
    // The server writes meanwhile: there may be less than that by now.
    await writeFile(this.ballast, Buffer.alloc(bavail * bsize)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOSPC") throw error;
    });
  }

  async empty(): Promise<void> {
    await rm(this.ballast, { force: true });
  }

  /** The server must have ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    await run("umount", ["-l", this.folder]);
  }
}
