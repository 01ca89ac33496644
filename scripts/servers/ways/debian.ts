/**
 * Debian's packages, unpacked into the cache. MySQL's own server is in the unstable suite alone; MariaDB and Redis are in
 * every suite, and unstable's run on any release since they bring their own C library.
 */
import { debianPackage } from "../debian/package.js";
import { LocalMysql } from "../mysql/local.js";
import { inspectMysql } from "../mysql/program.js";
import { dataTemplate } from "../mysql/template.js";
import { LocalRedis } from "../redis/local.js";
import type { MysqlOpener, RedisOpener, Way } from "./way.js";
import type { Suite } from "../debian/apt.js";
import type { DebianPackage } from "../debian/package.js";
import type { Flavor, Log } from "../server.js";

const mysqlPackages: Record<Flavor, { name: string; program: string; suites: Suite[] }> = {
  mysql: { name: "mysql-server-core", program: "mysqld", suites: ["unstable"] },
  // the machine's own first: a release's MariaDB is what people run
  mariadb: { name: "mariadb-server-core", program: "mariadbd", suites: ["machine", "unstable"] },
};

export const debianWay: Way = {
  name: "Debian packages",

  async mysql(flavor, context): Promise<MysqlOpener> {
    const { name, program: binary, suites } = mysqlPackages[flavor];
    const unpacked = await unpack(name, suites, context.log);
    const program = await inspectMysql(await unpacked.command(binary), unpacked.root);
    const template = await dataTemplate({ program, log: context.log });
    return {
      what: `Debian's ${name} ${unpacked.versions[name]}`,
      open: async (options) => LocalMysql.open(program, template, await context.workspace(), options),
    };
  },

  async redis(context): Promise<RedisOpener> {
    const unpacked = await unpack("redis-server", ["unstable", "machine"], context.log);
    const command = await unpacked.command("redis-server");
    return {
      what: `Debian's redis-server ${unpacked.versions["redis-server"]}`,
      open: async (options) => LocalRedis.open(command, await context.workspace(), options),
    };
  },
};

/** From the first suite that has it. */
async function unpack(name: string, suites: Suite[], log: Log): Promise<DebianPackage> {
  const reasons: string[] = [];
  for (const suite of suites) {
    try {
      return await debianPackage([name], { suite, log });
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new Error([...new Set(reasons)].join("; "));
}
