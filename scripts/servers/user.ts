/**
 * The user that server processes run as: the caller, or `nobody` when the caller is root, since mysqld refuses to run
 * as root and a test server has no business there.
 */
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";

export interface RunAs {
  uid: number;
  gid: number;
}

/** Undefined when the caller is no root: children then run as the caller. */
export function serverUser(): RunAs | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((entry) => entry.startsWith("nobody:"));
  const [, , uid, gid] = line?.split(":") ?? [];
  return { uid: Number(uid ?? 65534), gid: Number(gid ?? 65534) };
}

/** Whether server processes can reach what lies under `path`; the part of it that does not exist yet counts as reachable. */
export function reachable(path: string, user: RunAs | undefined = serverUser()): boolean {
  for (let folder = path; ; folder = dirname(folder)) {
    try {
      if (user === undefined) accessSync(folder, constants.X_OK);
      // root reaches everything, so its own access says nothing about nobody's
      else if ((statSync(folder).mode & 0o001) === 0) return false;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") return false;
    }
    if (folder === dirname(folder)) return true;
  }
}
