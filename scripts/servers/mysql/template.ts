/**
 * Initialised data folders. To initialise one takes seconds and gives the same result every time, so it is done once per
 * server version and copied. The copy has no root password; LocalMysql locks root out at its first start.
 */
import { createHash } from "node:crypto";
import { chmod, chown, mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";

import { cached } from "../cache.js";
import { run } from "../command.js";
import type { Log } from "../server.js";
import { serverUser } from "../user.js";
import type { MysqlProgram } from "./program.js";

export interface TemplateOptions {
  program: MysqlProgram;
  log: Log;
}

/** Returns the path of the data folder to copy. */
export async function dataTemplate({ program, log }: TemplateOptions): Promise<string> {
  const identity = [program.flavor, program.version, program.command.file, ...program.command.args].join("\n");
  const hash = createHash("sha256").update(identity).digest("hex").slice(0, 8);
  const version = program.version.replaceAll(/[^\w.-]/g, "_");
  const place = await cached(`data/${program.flavor}-${version}-${hash}`, log, async (folder) => {
    log(`initialising a data folder of ${program.flavor} ${program.version}`);
    await chmod(folder, 0o755);
    const data = join(folder, "data");
    await mkdir(data, { mode: 0o750 });
    const user = serverUser();
    if (user !== undefined) await chown(data, user.uid, user.gid);
    await (program.flavor === "mysql" ? initializeMysql(program, data) : initializeMariadb(program, data));
    // each copy makes an uuid of its own, which GTIDs are built from
    await rm(join(data, "auto.cnf"), { force: true });
  });
  return join(place, "data");
}

async function initializeMysql(program: MysqlProgram, data: string): Promise<void> {
  const options = [
    "--no-defaults",
    "--initialize-insecure",
    `--datadir=${data}`,
    ...program.locations,
    "--skip-log-bin",
    "--secure-file-priv=NULL",
    // a small redo log keeps the copies small; a server that starts on a copy grows it to its own setting
    "--loose-innodb-redo-log-capacity=8M",
  ];
  await run(program.command, options, { cwd: data, ...serverUser() });
}

/** What mariadb-install-db does, without its shell script, which looks for the server where it would be installed. */
async function initializeMariadb(program: MysqlProgram, data: string): Promise<void> {
  const share = await messagesFolder(program);
  const read = async (...names: string[]): Promise<string> => {
    for (const name of names) {
      const text = await readFile(join(share, name), "utf8").catch(() => undefined);
      if (text !== undefined) return text;
    }
    throw new Error(`the server has no ${names.join(" or ")} in its share folder`);
  };
  // files were renamed from mysql_* to mariadb_* in 10.11
  const either = (name: string): Promise<string> => read(`mariadb_${name}`, `mysql_${name}`);
  const input = [
    "create database mysql;\nuse mysql;\nset @auth_root_socket = NULL;\n",
    await either("system_tables.sql"),
    await either("performance_tables.sql"),
    await either("system_tables_data.sql"),
    await read("fill_help_tables.sql"),
    await read("maria_add_gis_sp_bootstrap.sql"),
    await either("sys_schema.sql"),
  ].join("\n");
  const options = [
    "--no-defaults",
    "--bootstrap",
    `--datadir=${data}`,
    ...program.locations,
    "--skip-log-bin",
    "--silent-startup",
    "--innodb-log-file-size=16M",
  ];
  await run(program.command, options, { input, cwd: data, ...serverUser() });
}

async function messagesFolder(program: MysqlProgram): Promise<string> {
  const { stdout } = await run(program.command, ["--no-defaults", ...program.locations, "--verbose", "--help"], {
    cwd: "/",
    ...serverUser(),
  });
  const folder = /^lc-messages-dir\s+(\S+)$/m.exec(stdout)?.[1];
  if (folder === undefined) throw new Error("the server does not tell its lc-messages-dir");
  return folder;
}
