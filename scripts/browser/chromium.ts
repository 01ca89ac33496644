/**
 * A headless Chromium: one that is installed, or Debian's package unpacked into the cache. playwright-core drives it; that
 * package's own download of browsers is never used.
 */
import { accessSync, constants, existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium, type Browser } from "playwright-core";
import { debianPackage } from "../servers/debian/package.js";
import type { Log } from "../servers/server.js";

interface Program {
  what: string;
  file: string;
  env: Record<string, string>;
}

/** @throws with the reasons when this machine offers none */
export async function openChromium(log: Log = () => undefined): Promise<Browser> {
  const program = installed() ?? (await unpacked(log));
  const env = Object.fromEntries(Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined));
  return await chromium.launch({
    executablePath: program.file, env: { ...env, ...program.env },
    // A container's root has no sandbox to offer, and its /dev/shm is small.
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars", "--force-color-profile=srgb"],
  });
}

function installed(): Program | null {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  for (const name of ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"])
    for (const file of folders.map((folder) => join(folder, name))) if (isProgram(file)) return { what: file, file, env: {} };
  return null;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Of the machine's own suite: Chromium starts itself again by its own path, which a loader before it would hide, so its C library
 * must be the machine's.
 */
async function unpacked(log: Log): Promise<Program> {
  const { root, versions } = await debianPackage(["chromium", "fonts-dejavu-core"], { suite: "machine", log });
  const lib = join(root, "usr/lib");
  const libraries = readdirSync(lib).filter((name) => /-linux-gnu/.test(name)).map((name) => join(lib, name));
  const file = join(lib, "chromium/chromium");
  if (!existsSync(file)) throw new Error("the unpacked package has no usr/lib/chromium/chromium");
  return {
    what: `Debian's chromium ${versions["chromium"]}`, file,
    env: { LD_LIBRARY_PATH: [...libraries, ...libraries.map((folder) => join(folder, "pulseaudio")), join(lib, "chromium")].join(":"), FONTCONFIG_SYSROOT: root },
  };
}
