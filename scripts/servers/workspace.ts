/** The temporary folder of one set of servers, with the watchdog that removes it. */
import { chmod, chown, mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { reachable, serverUser } from "./user.js";
import { Watchdog } from "./watchdog.js";

export class Workspace {
  #count = 0;

  private constructor(
    readonly folder: string,
    readonly watchdog: Watchdog,
  ) {}

  static async open(): Promise<Workspace> {
    const base = [tmpdir(), "/tmp", "/var/tmp"].find((folder) => reachable(folder)) ?? tmpdir();
    const folder = await mkdtemp(join(base, "drover-servers-"));
    const watchdog = new Watchdog(folder);
    // mkdtemp makes it 0700; servers of root run as nobody and must pass through
    await chmod(folder, 0o711);
    return new Workspace(folder, watchdog);
  }

  /** A new folder that belongs to the user that servers run as. Names stay short: a socket's path has some 100 bytes. */
  async serverFolder(name: string): Promise<string> {
    const folder = join(this.folder, `${++this.#count}-${name.replaceAll(/[^\w-]/g, "_").slice(0, 24)}`);
    await mkdir(folder, { mode: 0o750 });
    const user = serverUser();
    if (user !== undefined) await chown(folder, user.uid, user.gid);
    return folder;
  }

  /** Kills what is left of the servers started here and removes the folder. */
  async close(): Promise<void> {
    await this.watchdog.close();
  }
}
