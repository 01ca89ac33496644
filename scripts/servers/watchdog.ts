/**
 * Ends servers whose owner is gone. One mechanism for every way to go: Ctrl-C, SIGTERM, an uncaught exception,
 * process.exit and kill -9 all close the owner's end of a pipe, and nothing has to run in the owner for it.
 *
 * It is a shell, in a session of its own (so a terminal's Ctrl-C does not reach it), that reads lines `PID IDENTITY`
 * from its standard input. At its end it kills those of them that are still the same process and removes the folder.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import type { Writable } from "node:stream";
import { fileURLToPath } from "node:url";

import { processIdentity } from "./identity.js";

const script = fileURLToPath(new URL("watchdog.sh", import.meta.url));

export class Watchdog {
  readonly #child: ChildProcess;
  readonly #input: Writable;
  readonly #ended: Promise<void>;

  constructor(folder: string) {
    const child = spawn("/bin/sh", [script, folder], {
      detached: true,
      cwd: "/",
      stdio: ["pipe", "ignore", "ignore"],
    });
    this.#child = child;
    this.#input = child.stdin;
    this.#input.on("error", () => {});
    this.#ended = new Promise((resolve) => {
      child.once("exit", () => resolve());
      child.once("error", () => resolve());
    });
    // neither the shell nor its pipe may keep a program alive that forgot to close its servers
    child.unref();
    (child.stdin as unknown as { unref?: () => void }).unref?.();
  }

  /** Call in the same tick as the spawn: the write goes out at once, so that no kill -9 comes between. */
  watch(pid: number): void {
    const identity = processIdentity(pid);
    if (identity !== undefined) this.#input.write(`${pid} ${identity}\n`);
  }

  /** Lets it do its work now and waits for it. */
  async close(): Promise<void> {
    this.#child.ref();
    this.#input.end();
    await this.#ended;
  }
}
