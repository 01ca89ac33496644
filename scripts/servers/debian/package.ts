/** Debian packages unpacked into the cache, and how to run what is in them. Nothing is installed. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, open, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";

import { cached } from "../cache.js";
import { run } from "../command.js";
import type { Command, Output, RunOptions } from "../command.js";
import type { Log } from "../server.js";
import { download } from "./apt.js";
import type { Suite } from "./apt.js";

export interface DebianPackageOptions {
  /** Default `unstable`, whose programs bring a C library of their own, so that they run on any release. */
  suite?: Suite;
  log?: Log;
}

/**
 * The packages and all that they depend on, unpacked into one folder of the cache; made once, then used without the
 * network. Delete the cache folder to get newer versions.
 */
export async function debianPackage(names: string[], options: DebianPackageOptions = {}): Promise<DebianPackage> {
  const { suite = "unstable", log = () => {} } = options;
  const sorted = [...names].sort();
  const hash = createHash("sha256").update(sorted.join(" ")).digest("hex").slice(0, 8);
  const folder = await cached(`debian/${suite}-${sorted[0]}-${hash}`, log, async (place) => {
    const archives = join(place, "archives");
    const files = await download({ packages: sorted, suite, archives, log });
    log(`unpacking ${files.length} packages`);
    await mkdir(join(place, "root"), { mode: 0o755 });
    for (const file of files) await run({ file: "dpkg", args: ["--extract", file, join(place, "root")] });
    await writeFile(join(place, "versions.json"), JSON.stringify(versionsOf(files), null, 2));
    await rm(archives, { recursive: true });
    // mkdtemp made it 0700, and servers of root run as nobody
    await run({ file: "chmod", args: ["755", place, join(place, "root")] });
  });
  const versions = JSON.parse(await readFile(join(folder, "versions.json"), "utf8")) as Record<string, string>;
  return new DebianPackage(join(folder, "root"), versions);
}

/** `NAME_VERSION_ARCH.deb`, the version's colon as %3a. */
function versionsOf(files: string[]): Record<string, string> {
  const parts = files.map((file) => basename(file).split("_"));
  return Object.fromEntries(parts.map(([name = "", version = ""]) => [name, decodeURIComponent(version)]));
}

export class DebianPackage {
  constructor(
    /** What would be `/` if the packages were installed. */
    readonly root: string,
    /** Of every unpacked package, by name. */
    readonly versions: Readonly<Record<string, string>>,
  ) {}

  /**
   * How to run a program of these packages, by name (`mydumper`) or by path under the root (`usr/sbin/mysqld`). Binaries
   * run through the root's own loader, since its C library may be newer than the machine's; Perl scripts by its perl.
   */
  async command(program: string): Promise<Command> {
    const path = this.#find(program);
    const head = await firstBytes(path);
    if (head.startsWith("\x7fELF")) return this.#binary(path);
    if (/^#!.*\bperl\b/.test(head)) {
      const perl = this.#binary(this.#find("perl"));
      return { ...perl, args: [...perl.args, path], env: { ...perl.env, PERL5LIB: this.#perlFolders().join(":") } };
    }
    return { file: path, args: [] };
  }

  /** Runs a program to its end; throws CommandError unless it ends with 0. */
  async run(program: string, args: string[] = [], options: RunOptions = {}): Promise<Output> {
    return run(await this.command(program), args, options);
  }

  #binary(path: string): Command {
    const env: Record<string, string> = {};
    // the MariaDB client library, which Perl's driver and mydumper may use, looks for its login plugins in a fixed folder
    const plugins = this.#libraryFolders()
      .map((folder) => join(folder, "libmariadb3", "plugin"))
      .find((folder) => existsSync(folder));
    if (plugins !== undefined) env["MARIADB_PLUGIN_DIR"] = plugins;
    return { file: this.#loader(), args: ["--library-path", this.#libraryFolders().join(":"), path], env };
  }

  #find(program: string): string {
    const folders = program.includes("/") ? [""] : ["usr/sbin", "usr/bin", "sbin", "bin", "usr/games"];
    const path = folders.map((folder) => join(this.root, folder, program)).find((file) => existsSync(file));
    if (path === undefined) throw new Error(`no program ${program} in the unpacked packages`);
    return path;
  }

  #loader(): string {
    for (const folder of this.#libraryFolders()) {
      const name = readdirSync(folder).find((file) => /^ld-linux.*\.so\.\d+$|^ld64\.so\.\d+$/.test(file));
      if (name !== undefined) return join(folder, name);
    }
    throw new Error("no ld-linux loader in the unpacked packages");
  }

  /** `usr/lib/TRIPLET` first: the loader lies there; then private folders that programs find by their RUNPATH when installed. */
  #libraryFolders(): string[] {
    const folders: string[] = [];
    for (const lib of ["usr/lib", "lib"]) {
      const base = join(this.root, lib);
      if (!existsSync(base)) continue;
      const triplets = readdirSync(base)
        .filter((name) => /-linux-gnu/.test(name))
        .map((name) => join(base, name));
      folders.push(...triplets, base, join(base, "mysql", "private"));
    }
    return folders.filter((folder) => existsSync(folder));
  }

  #perlFolders(): string[] {
    const folders: string[] = [join(this.root, "usr/share/perl5")];
    const versioned = (base: string, kind: string): string[] => {
      const parent = join(base, kind);
      if (!existsSync(parent)) return [];
      // `5.42` is a link to `5.42.3`; either will do
      return readdirSync(parent)
        .filter((name) => /^\d/.test(name))
        .map((name) => join(parent, name));
    };
    for (const base of this.#libraryFolders())
      folders.push(...versioned(base, "perl5"), ...versioned(base, "perl"), join(base, "perl-base"));
    folders.push(...versioned(join(this.root, "usr/share"), "perl"));
    return folders.filter((folder) => existsSync(folder));
  }
}

async function firstBytes(path: string): Promise<string> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(128), 0, 128, 0);
  return buffer.toString("latin1", 0, bytesRead).split("\n")[0] ?? "";
}
