/** A MySQL or MariaDB server as a process of this machine, in a folder of its own. */
import { randomBytes, randomInt } from "node:crypto";
import { chown, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { createConnection } from "mysql2/promise";

import { ServerChild } from "../child.js";
import { run } from "../command.js";
import { freePort } from "../port.js";
import type { Flavor, MysqlOptions, MysqlServer } from "../server.js";
import { serverUser } from "../user.js";
import type { Workspace } from "../workspace.js";
import { optionArguments, serverConfig } from "./options.js";
import type { MysqlProgram } from "./program.js";

const portAttempts = 5;

export class LocalMysql implements MysqlServer {
  readonly host = "127.0.0.1";
  readonly user = "admin";
  readonly #child: ServerChild;
  readonly #folder: string;
  #closed = false;

  private constructor(
    readonly name: string,
    readonly flavor: Flavor,
    readonly version: string,
    readonly port: number,
    readonly password: string,
    folder: string,
    child: ServerChild,
  ) {
    this.#folder = folder;
    this.#child = child;
  }

  /** @param template Data folder to copy, of the same program. */
  static async open(program: MysqlProgram, template: string, workspace: Workspace, options: MysqlOptions): Promise<LocalMysql> {
    const folder = await workspace.serverFolder(options.name);
    const data = join(folder, "data");
    // cp keeps owner and mode, and shares blocks where the file system can
    await run({ file: "cp", args: ["-Rp", template, data] });
    const password = randomBytes(12).toString("hex");
    const first = join(folder, "first.sql");
    await writeFile(first, firstStatements(program.flavor, password).join("\n"), { mode: 0o600 });
    const user = serverUser();
    if (user !== undefined) await chown(first, user.uid, user.gid);

    const config = serverConfig(program.flavor, options.serverId ?? randomInt(1, 2 ** 31), options.config ?? {});
    for (let attempt = 1; ; attempt++) {
      const port = await freePort();
      const child = new ServerChild({
        name: options.name,
        command: program.command,
        args: [
          "--no-defaults",
          ...program.locations,
          `--datadir=${data}`,
          `--socket=${join(folder, "s.sock")}`,
          `--pid-file=${join(folder, "pid")}`,
          `--tmpdir=${folder}`,
          "--bind-address=127.0.0.1",
          `--port=${port}`,
          ...optionArguments(config),
        ],
        folder,
        logFile: join(folder, "log"),
        watchdog: workspace.watchdog,
        probe: async () => {
          const connection = await createConnection({ host: "127.0.0.1", port, user: "admin", password, connectTimeout: 5_000 });
          await connection.end();
        },
      });
      try {
        await child.start([`--init-file=${first}`]);
      } catch (error) {
        // somebody took the port between our look and the server's bind
        if (attempt < portAttempts && /address already in use/i.test(String(error))) continue;
        throw error;
      }
      await rm(first);
      return new LocalMysql(options.name, program.flavor, program.version, port, password, folder, child);
    }
  }

  get url(): string {
    return `mysql://${this.user}:${this.password}@${this.host}:${this.port}/`;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get dataDir(): string {
    return join(this.#folder, "data");
  }

  stop(): Promise<void> {
    return this.#child.stop();
  }

  kill(): Promise<void> {
    return this.#child.kill();
  }

  async start(): Promise<void> {
    if (this.#closed) throw new Error(`server ${this.name} is closed and its data deleted`);
    await this.#child.start();
  }

  async close(): Promise<void> {
    this.#closed = true;
    // its data go next, so a clean shutdown would only cost time
    await this.#child.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** One per line, as --init-file wants. Kept out of the binlog, so that a server begins without a GTID. */
function firstStatements(flavor: Flavor, password: string): string[] {
  return [
    "SET SESSION sql_log_bin = 0;",
    `CREATE USER 'admin'@'%' IDENTIFIED BY '${password}';`,
    "GRANT ALL PRIVILEGES ON *.* TO 'admin'@'%' WITH GRANT OPTION;",
    // MariaDB's bootstrap makes anonymous users, who would win over 'admin'@'%' for connections from this host
    ...(flavor === "mariadb" ? ["DELETE FROM mysql.global_priv WHERE User = '';", "FLUSH PRIVILEGES;"] : []),
    `ALTER USER 'root'@'localhost' IDENTIFIED BY '${password}';`,
    "",
  ];
}
