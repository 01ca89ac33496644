/**
 * Things that are costly to make and the same every time: unpacked packages, initialised data folders. A thing is made
 * in a folder beside its place and renamed into it when complete, so what is in its place is always whole.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { createServer } from "node:net";
import type { Server } from "node:net";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import type { Log } from "./server.js";
import { reachable } from "./user.js";

/** Longer than any preparation; after it the lock is passed by, since rename keeps the cache right without it. */
const lockLimitMs = 15 * 60_000;
const leftoverMs = 60 * 60_000;

/**
 * The user's cache folder. Root's own is closed to `nobody`, whom root's servers run as, so root's is the system's
 * folder for caches.
 */
export function cacheFolder(): string {
  const own = ownFolder();
  return join(reachable(own) ? own : "/var/cache", "drover", "servers");
}

function ownFolder(): string {
  return process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
}

/** The path of `name` in the cache, made by `make` when it is not there. Safe when several processes ask at once. */
export async function cached(name: string, log: Log, make: (folder: string) => Promise<void>): Promise<string> {
  const place = join(cacheFolder(), name);
  if (existsSync(place)) return place;
  const own = ownFolder();
  if (!reachable(own)) log(`the cache folder is ${cacheFolder()}: servers of root run as nobody, who may not look into ${own}`);
  await mkdir(dirname(place), { recursive: true, mode: 0o755 });
  await using _ = await lock(log);
  if (existsSync(place)) return place;
  await removeLeftovers(place);
  const folder = await mkdtemp(`${place}.tmp-`);
  try {
    await make(folder);
    await rename(folder, place).catch((error: NodeJS.ErrnoException) => {
      // another process that could not see the lock was faster; its result is as good
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return place;
}

/** Folders of processes that were killed while making the same thing. */
async function removeLeftovers(place: string): Promise<void> {
  for (const entry of await readdir(dirname(place))) {
    if (!entry.startsWith(`${basename(place)}.tmp-`)) continue;
    const path = join(dirname(place), entry);
    const age = Date.now() - (await stat(path)).mtimeMs;
    if (age > leftoverMs) await rm(path, { recursive: true, force: true });
  }
}

/**
 * Saves double work, no more. A socket of Linux's abstract namespace is the one lock that a process can hold with Node
 * alone and that ends with it whatever ends it. Elsewhere there is none, and double work is what happens.
 */
async function lock(log: Log): Promise<AsyncDisposable> {
  if (process.platform !== "linux") return { [Symbol.asyncDispose]: async () => {} };
  const id = createHash("sha256").update(cacheFolder()).digest("hex").slice(0, 16);
  const deadline = Date.now() + lockLimitMs;
  for (let told = false; Date.now() < deadline; told = true) {
    const server = await listen(`\0drover-servers-cache-${id}`);
    if (server !== undefined) {
      return { [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())) };
    }
    if (!told) log("waiting for another preparation of servers");
    await sleep(100);
  }
  return { [Symbol.asyncDispose]: async () => {} };
}

/** Undefined when the name is taken. */
function listen(path: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve(undefined);
      else reject(error);
    });
    server.listen(path, () => resolve(server.unref()));
  });
}
