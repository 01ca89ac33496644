/**
 * Downloads packages with all that they need by an apt of its own: its lists, status and archives lie in our cache and
 * the machine's are neither read nor changed. Works for any user.
 */
import { existsSync } from "node:fs";
import { mkdir, readdir, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { cacheFolder } from "../cache.js";
import { run } from "../command.js";
import type { Log } from "../server.js";
import { debianCodename, debianMirrors } from "./sources.js";
import type { Mirror } from "./sources.js";

/** `machine`: the suite that this machine runs. */
export type Suite = "unstable" | "machine";

/** Lists older than this are asked for anew; unstable drops packages within hours. */
const listsMs = 60 * 60_000;
const pausesMs = [0, 2_000, 8_000];
/** apt's words for what trying again cannot cure. */
const final = /Unable to locate package|has no installation candidate|unmet dependencies|does not have a Release file|NO_PUBKEY/;

export interface DownloadOptions {
  packages: string[];
  suite: Suite;
  /** Receives the `.deb` files. */
  archives: string;
  log: Log;
}

/** Returns the paths of the downloaded packages. Call under the cache's lock: the lists are shared. */
export async function download({ packages, suite, archives, log }: DownloadOptions): Promise<string[]> {
  const codename = debianCodename();
  if (codename === undefined) throw new Error("this machine is no Debian");
  for (const program of ["apt-get", "apt-config", "dpkg"]) {
    await run({ file: program, args: ["--version"] }).catch(() => {
      throw new Error(`${program} is not there`);
    });
  }
  const mirrors = debianMirrors(codename);
  if (mirrors.length === 0) throw new Error("the machine's apt names no Debian mirror");

  const name = suite === "machine" ? codename : suite;
  const folder = join(cacheFolder(), "apt", name);
  const env = { APT_CONFIG: await configure(folder, archives, mirrors, name), LC_ALL: "C", DEBIAN_FRONTEND: "noninteractive" };
  const fresh = join(folder, "updated");

  const reasons = new Set<string>();
  for (const [attempt, pause] of pausesMs.entries()) {
    await sleep(pause);
    const last = attempt === pausesMs.length - 1;
    try {
      if (attempt > 0 || (await ageMs(fresh)) > listsMs) {
        log(`asking Debian's ${name} suite for its packages`);
        await update(env, last);
        if (!last) await touch(fresh);
      }
      log(`downloading ${packages.join(", ")} from Debian's ${name} suite`);
      await run({ file: "apt-get", args: ["install", "--yes", "--download-only", "--no-install-recommends", ...packages], env });
      const names = await readdir(archives);
      return names.filter((file) => file.endsWith(".deb")).map((file) => join(archives, file));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      reasons.add(message);
      // fresh lists cannot be the reason any more
      if (final.test(message) && attempt > 0) break;
      if (!last) log(`apt failed, trying again: ${message.split("\n")[0]}`);
    }
  }
  throw new Error([...reasons].join("; "));
}

/** @param lenient Content with any mirror that answers; otherwise a list that could not be had is an error. */
async function update(env: Record<string, string>, lenient: boolean): Promise<void> {
  const mode = lenient ? [] : ["-o", "APT::Update::Error-Mode=any"];
  await run({ file: "apt-get", args: [...mode, "update"], env });
}

/** Writes the configuration and returns its path. */
async function configure(folder: string, archives: string, mirrors: Mirror[], suite: string): Promise<string> {
  for (const path of ["state/lists/partial", "log"]) await mkdir(join(folder, path), { recursive: true });
  await mkdir(join(archives, "partial"), { recursive: true });
  await writeFile(join(folder, "status"), "");
  const sources = join(folder, "mirror.sources");
  // a mirror's release and updates suites come as two entries, and apt complains about the same one twice
  const stanzas = new Set(mirrors.map((mirror) => stanza(mirror, suite)));
  await writeFile(sources, [...stanzas].join("\n"));
  // proxies and the like are kept, hooks (which may delete archives, or write where only root may) are not
  const { stdout: acquire } = await run({ file: "apt-config", args: ["dump", "Acquire"] });
  const { stdout: architecture } = await run({ file: "dpkg", args: ["--print-architecture"] });
  const settings: [string, string][] = [
    ["Dir::Etc::Main", "/dev/null"],
    ["Dir::Etc::Parts", "/dev/null"],
    ["Dir::Etc::SourceList", sources],
    ["Dir::Etc::SourceParts", "/dev/null"],
    ["Dir::Etc::Preferences", "/dev/null"],
    ["Dir::Etc::PreferencesParts", "/dev/null"],
    ["Dir::State", join(folder, "state")],
    ["Dir::State::status", join(folder, "status")],
    ["Dir::Cache", join(folder, "cache")],
    ["Dir::Cache::archives", archives],
    ["Dir::Cache::pkgcache", ""],
    ["Dir::Cache::srcpkgcache", ""],
    ["Dir::Log", join(folder, "log")],
    // root's apt downloads as another user, who may not write here
    ["APT::Sandbox::User", "root"],
    ["APT::Architecture", architecture.trim()],
    ["APT::Architectures", architecture.trim()],
    ["Acquire::Languages", "none"],
    ["Acquire::Retries", "3"],
    ["Acquire::http::Timeout", "30"],
    ["Acquire::https::Timeout", "30"],
  ];
  await mkdir(join(folder, "cache"), { recursive: true });
  const file = join(folder, "apt.conf");
  await writeFile(file, `${acquire}\n${settings.map(([key, value]) => `${key} "${value}";\n`).join("")}`);
  return file;
}

function stanza({ uris, options }: Mirror, suite: string): string {
  const fields: [string, string][] = [
    ["Types", "deb"],
    ["URIs", uris],
    ["Suites", suite],
    ["Components", "main"],
    ...Object.entries(options),
  ];
  return fields.map(([key, value]) => `${key}: ${value}\n`).join("");
}

async function ageMs(file: string): Promise<number> {
  return existsSync(file) ? Date.now() - (await stat(file)).mtimeMs : Infinity;
}

async function touch(file: string): Promise<void> {
  await writeFile(file, "");
  await utimes(file, new Date(), new Date());
}
