/** mysqldump --single-transaction into mysql. */
import { spawn } from "node:child_process";
import type { MysqlServer } from "../../scripts/servers/index.js";
import { ask } from "../connection.js";
import { SCHEMA } from "../data.js";
import type { CopyPeer } from "../jobs/copy.js";
import { unpackPeer } from "./peer.js";

export async function mysqldumpPeer(): Promise<CopyPeer> {
  const unpacked = await unpackPeer("mysql-client-core");
  const dump = await unpacked.command("mysqldump");
  const load = await unpacked.command("mysql");
  return {
    copy: async (source, target) => {
      await ask(target, `CREATE DATABASE ${SCHEMA}`);
      const reader = spawn(dump.file, [...dump.args, ...access(source), "--single-transaction", "--set-gtid-purged=OFF", SCHEMA], {
        env: environment(source, dump.env),
        stdio: ["ignore", "pipe", "pipe"],
      });
      const writer = spawn(load.file, [...load.args, ...access(target), SCHEMA], { env: environment(target, load.env), stdio: ["pipe", "ignore", "pipe"] });
      writer.stdin.on("error", () => undefined);
      reader.stdout.pipe(writer.stdin);
      await Promise.all([success("mysqldump", reader), success("mysql", writer)]);
    },
  };
}

function access(server: MysqlServer): string[] {
  return ["--no-defaults", `--host=${server.host}`, `--port=${server.port}`, `--user=${server.user}`];
}

function environment(server: MysqlServer, own: Record<string, string> | undefined): NodeJS.ProcessEnv {
  return { ...process.env, ...own, MYSQL_PWD: server.password };
}

function success(name: string, child: ReturnType<typeof spawn>): Promise<void> {
  let said = "";
  child.stderr?.on("data", (text: Buffer) => (said += text.toString()));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => (code === 0 ? resolve() : reject(new Error(`${name} ended with ${code}: ${said.trim().slice(-400)}`))));
  });
}
