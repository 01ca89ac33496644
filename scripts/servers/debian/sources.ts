/** The Debian mirrors that this machine's apt uses, so that the repository names no host. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

export interface Mirror {
  /** One or more, as apt takes them. */
  uris: string;
  components: string;
  /** `Signed-By` and the like, to carry over: a path, or a key block with its folded lines. */
  options: Record<string, string>;
}

/** VERSION_CODENAME of /etc/os-release; undefined when the machine is no Debian. */
export function debianCodename(osRelease = readText("/etc/os-release")): string | undefined {
  if (!/^ID="?debian"?$/m.test(osRelease)) return undefined;
  return /^VERSION_CODENAME="?([\w.-]+)"?$/m.exec(osRelease)?.[1] ?? "unstable";
}

/**
 * Entries for Debian's own archive: those that offer `main` of a suite that Debian has. Others (a vendor's, the security
 * archive) have no unstable suite.
 */
export function debianMirrors(codename: string, folder = "/etc/apt"): Mirror[] {
  const suites = new Set([codename, "stable", "testing", "unstable", "sid"]);
  const found: Mirror[] = [];
  for (const file of sourceFiles(folder)) {
    const text = readText(file);
    const entries = file.endsWith(".sources") ? parseDeb822(text) : parseOneLine(text);
    for (const { suites: offered, mirror } of entries) {
      if (!offered.some((suite) => suites.has(suite))) continue;
      if (!mirror.components.split(/\s+/).includes("main") || mirror.uris.startsWith("cdrom:")) continue;
      found.push(mirror);
    }
  }
  return found;
}

interface Entry {
  suites: string[];
  mirror: Mirror;
}

/** `deb [signed-by=… arch=…] URI SUITE COMPONENT…` */
export function parseOneLine(text: string): Entry[] {
  const entries: Entry[] = [];
  for (const line of text.split("\n")) {
    const parts = /^\s*deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s+([^#]+)/.exec(line);
    if (parts === null) continue;
    const [, bracketed = "", uris = "", suite = "", components = ""] = parts;
    const options: Record<string, string> = {};
    for (const option of bracketed.split(/\s+/)) {
      const [key = "", value = ""] = option.split("=");
      if (key.toLowerCase() === "signed-by") options["Signed-By"] = value.replaceAll(",", " ");
      if (key.toLowerCase() === "trusted") options["Trusted"] = value;
    }
    entries.push({ suites: [suite], mirror: { uris, components: components.trim(), options } });
  }
  return entries;
}

/** Stanzas of `Field: value`, further lines of a value indented; see sources.list(5). */
export function parseDeb822(text: string): Entry[] {
  const entries: Entry[] = [];
  for (const stanza of text.split(/\n\s*\n/)) {
    const fields = new Map<string, string>();
    let last = "";
    for (const line of stanza.split("\n")) {
      if (line.startsWith("#")) continue;
      const field = /^([A-Za-z0-9-]+):[ \t]*(.*)$/.exec(line);
      if (field !== null) {
        last = (field[1] ?? "").toLowerCase();
        fields.set(last, field[2] ?? "");
      } else if (/^[ \t]/.test(line)) {
        fields.set(last, `${fields.get(last) ?? ""}\n${line}`);
      }
    }
    const words = (name: string): string[] => (fields.get(name) ?? "").split(/\s+/).filter((word) => word !== "");
    if (!words("types").includes("deb") || words("enabled").includes("no")) continue;
    const options: Record<string, string> = {};
    for (const name of ["Signed-By", "Trusted"]) {
      const value = fields.get(name.toLowerCase());
      if (value !== undefined) options[name] = value;
    }
    entries.push({
      suites: words("suites"),
      mirror: { uris: words("uris").join(" "), components: words("components").join(" "), options },
    });
  }
  return entries;
}

function sourceFiles(folder: string): string[] {
  const parts = join(folder, "sources.list.d");
  const names = existsSync(parts) ? readdirSync(parts).sort() : [];
  return [
    join(folder, "sources.list"),
    ...names.filter((name) => /\.(list|sources)$/.test(name)).map((name) => join(parts, name)),
  ];
}

function readText(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}
