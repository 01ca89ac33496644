/** Servers that are installed: on the PATH, or in the folders for servers that a user's PATH often lacks. */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

import { run } from "../command.js";
import { LocalMysql } from "../mysql/local.js";
import { inspectMysql } from "../mysql/program.js";
import { dataTemplate } from "../mysql/template.js";
import { LocalRedis } from "../redis/local.js";
import type { MysqlOpener, RedisOpener, Way } from "./way.js";

const serverFolders = ["/usr/sbin", "/usr/local/sbin", "/usr/libexec", "/usr/local/bin", "/opt/homebrew/bin"];

export const pathWay: Way = {
  name: "PATH",

  async mysql(flavor, context): Promise<MysqlOpener> {
    // distributions of MariaDB offer it as mysqld too, so the name decides nothing
    const found = [find("mysqld"), find("mariadbd")].filter((file) => file !== undefined);
    if (found.length === 0) throw new Error("neither mysqld nor mariadbd is there");
    const reasons: string[] = [];
    for (const file of found) {
      const program = await inspectMysql({ file, args: [] }).catch((error: unknown) => String(error));
      if (typeof program === "string" || program.flavor !== flavor) {
        reasons.push(`${file}: ${typeof program === "string" ? program : `is ${program.flavor} ${program.version}`}`);
        continue;
      }
      const template = await dataTemplate({ program, log: context.log });
      return {
        what: `${file} ${program.version}`,
        open: async (options) => LocalMysql.open(program, template, await context.workspace(), options),
      };
    }
    throw new Error(reasons.join("; "));
  },

  async redis(context): Promise<RedisOpener> {
    const file = find("redis-server") ?? find("valkey-server");
    if (file === undefined) throw new Error("neither redis-server nor valkey-server is there");
    const { stdout } = await run({ file, args: ["--version"] });
    return {
      what: `${file} ${/\bv=(\S+)/.exec(stdout)?.[1] ?? ""}`.trim(),
      open: async (options) => LocalRedis.open({ file, args: [] }, await context.workspace(), options),
    };
  },
};

function find(program: string): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), ...serverFolders];
  return folders
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, program))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
