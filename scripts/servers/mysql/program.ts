/** A mysqld or mariadbd that can be run here, and what it says about itself. */
import { existsSync } from "node:fs";
import { join } from "node:path";

import { run } from "../command.js";
import type { Command } from "../command.js";
import type { Flavor } from "../server.js";

export interface MysqlProgram {
  readonly flavor: Flavor;
  readonly version: string;
  readonly command: Command;
  /** Where its own files lie, for a program that is not where it was built to be. */
  readonly locations: string[];
}

/** @param root Folder that the program's package was unpacked into; absent for an installed program. */
export async function inspectMysql(command: Command, root?: string): Promise<MysqlProgram> {
  const { stdout } = await run(command, ["--no-defaults", "--version"]);
  const version = /\bVer (\S+)/.exec(stdout)?.[1];
  if (version === undefined) throw new Error(`cannot read a version from "${stdout.trim()}"`);
  const flavor = /mariadb/i.test(stdout) ? "mariadb" : "mysql";
  const [major = 0, minor = 0] = version.split(".").map((part) => parseInt(part, 10));
  // binlog_row_metadata came with MySQL 8.0 and MariaDB 10.5
  if (flavor === "mysql" ? major < 8 : major < 10 || (major === 10 && minor < 5)) {
    throw new Error(`${flavor} ${version} is too old`);
  }
  return { flavor, version, command, locations: root === undefined ? [] : locationsIn(root) };
}

function locationsIn(root: string): string[] {
  const share = ["usr/share/mysql", "usr/share/mariadb"]
    .map((name) => join(root, name))
    .find((folder) => existsSync(join(folder, "english")));
  if (share === undefined) throw new Error("the unpacked server has no message files");
  return [
    `--basedir=${join(root, "usr")}`,
    `--lc-messages-dir=${share}`,
    `--character-sets-dir=${join(share, "charsets")}`,
    `--plugin-dir=${join(root, "usr/lib/mysql/plugin")}`,
  ];
}
