/** A server's flavour and version, from `VERSION()`. */

export interface ServerVersion {
  flavor: "mysql" | "mariadb";
  major: number;
  minor: number;
  patch: number;
  /** As the server says it, for messages. */
  text: string;
}

/** @param text `8.4.3-log`, `10.11.18-MariaDB-0+deb12u1`, `5.5.5-10.6.1-MariaDB` (a prefix for old replicas) */
export function parseServerVersion(text: string, isMariaDb: boolean): ServerVersion {
  const [, major, minor, patch] = /^(?:5\.5\.5-)?(\d+)\.(\d+)\.(\d+)/.exec(isMariaDb ? text : text.replace(/^5\.5\.5-/, "")) ?? [];
  return { flavor: isMariaDb ? "mariadb" : "mysql", major: Number(major ?? 0), minor: Number(minor ?? 0), patch: Number(patch ?? 0), text };
}

/** Whether `version` is `major.minor.patch` or newer; compare within one flavour only. */
export function atLeast(version: ServerVersion, major: number, minor = 0, patch = 0): boolean {
  const order = version.major - major || version.minor - minor || version.patch - patch;
  return order >= 0;
}

/** `MySQL 8.4.3`, `MariaDB 10.6.1`. */
export function versionName(version: ServerVersion): string {
  return `${version.flavor === "mysql" ? "MySQL" : "MariaDB"} ${version.major}.${version.minor}.${version.patch}`;
}
