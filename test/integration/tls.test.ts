/** `ssl=required` and `ssl=verify` of a connection's URL: sessions and the binlog's dump. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { promisify } from "node:util";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import { expect, it } from "vitest";
import { openServers } from "../../scripts/servers/index.js";
import { DroverClient } from "../../src/producers/index.js";
import { loadConfig } from "../../src/shared/config.js";
import { createLogger } from "../../src/shared/logger.js";
import type { ByteSql } from "../../src/shared/mysql/bytes.js";
import { openSession, tlsOptions } from "../../src/shared/mysql/open-session.js";
import { parseServerUrl, type ServerAddress } from "../../src/shared/mysql/server-address.js";
import { runWorker } from "../../src/workers/index.js";
import { testContext } from "../support/context.js";
import { Recorder } from "./binlog-recorder.js";

const signal = new AbortController().signal;
const run = promisify(execFile);

it("required: a migration whose users are let in by TLS only, all its sessions and the dump", async () => {
  await using ctx = await testContext({ allowedKey: () => true });
  await ctx.source.query(`CREATE TABLE ${ctx.schema}.t (id INT PRIMARY KEY, v VARCHAR(40)); INSERT INTO ${ctx.schema}.t VALUES (1, 'one')`);
  for (const server of [ctx.source, ctx.target]) await server.query(`SET SESSION sql_log_bin=0; ALTER USER '${server.user}'@'%' REQUIRE SSL; SET SESSION sql_log_bin=1`);
  const config = loadConfig({ ...ctx.env, DROVER_CONNECTION_SRC: `${ctx.source.url}?ssl=required`, DROVER_CONNECTION_DST: `${ctx.target.url}?ssl=required` });
  const worker = await runWorker({ config, log: createLogger("silent") });
  const client = new DroverClient({ config });
  try {
    await client.startMigration({ id: "m", source: "SRC", target: "DST", tables: [{ schema: ctx.schema }] });
    await client.waitFor("m", "streaming", { timeout: 30_000 });
    await ctx.source.query(`INSERT INTO ${ctx.schema}.t VALUES (2, 'two')`);
    await client.waitFor("m", "caught-up", { timeout: 30_000 });
    expect(await ctx.target.query(`SELECT COUNT(*) AS n FROM ${ctx.schema}.t`)).toEqual([{ n: "2" }]);
    const sessions = await ctx.source.query("SELECT PROCESSLIST_COMMAND AS command, CONNECTION_TYPE AS type FROM performance_schema.threads WHERE PROCESSLIST_USER=?", [ctx.source.user]);
    expect(sessions.filter(({ command }) => command === "Binlog Dump GTID")).toEqual([{ command: "Binlog Dump GTID", type: "SSL/TLS" }]);
    expect(new Set(sessions.map(({ type }) => String(type)))).toEqual(new Set(["SSL/TLS"]));
  } finally {
    await client.close();
    await worker.close();
  }
});

it("verify: the certificate must be of the CA in sslCa and of the host's name", async ({ skip }) => {
  skip(!(await run("openssl", ["version"]).then(() => true, () => false)), "there is no program openssl to make certificates");
  await using servers = await openServers();
  const server = await servers.mysql({ name: "tls" });
  const folder = await mkdtemp(join(tmpdir(), "drover-tls-"));
  const admin = await createConnection({ uri: server.url, multipleStatements: true });
  try {
    const address = (host: string, ca: string) => parseServerUrl("SRC", `mysql://${server.user}:${server.password}@${host}:${server.port}/?ssl=verify&sslCa=${encodeURIComponent(ca)}`);
    const stranger = join(folder, "stranger.pem");
    await writeFile(stranger, rootCertificates[0] ?? "");
    const own = join(server.dataDir ?? "", "ca.pem");
    for (const refused of [
      { at: address("127.0.0.1", stranger), why: /certificate/ },
      // The server's own certificate names no host.
      { at: address("localhost", own), why: /altnames|does not match certificate|Host: localhost/ },
    ]) {
      const error = { code: "CONNECTION_LOST", message: expect.stringMatching(refused.why) as string, cure: expect.stringContaining("ssl") as string };
      await expect(cipher(refused.at)).rejects.toMatchObject(error);
      await expect(dump(refused.at)).rejects.toMatchObject({ code: error.code, message: error.message });
    }
    await expect(cipher(address("localhost", join(folder, "missing.pem")))).rejects.toMatchObject({ code: "CONFIG_INVALID" });

    for (const [names, host, other] of [["DNS:localhost", "localhost", "127.0.0.1"], ["IP:127.0.0.1", "127.0.0.1", "localhost"]] as const) {
      const ca = await certify(server.dataDir ?? "", names);
      await admin.query("SET GLOBAL ssl_ca='t-ca.pem', GLOBAL ssl_cert='t-cert.pem', GLOBAL ssl_key='t-key.pem'; ALTER INSTANCE RELOAD TLS");
      expect(await cipher(address(host, ca))).toMatch(/^(TLS|ECDHE)/);
      await using stream = await dump(address(host, ca));
      const [rows] = await admin.query<RowDataPacket[]>("SELECT CONNECTION_TYPE AS type FROM performance_schema.threads WHERE PROCESSLIST_ID IN (?)", [stream.stream.sessionIds]);
      expect(rows.map((row) => String(row["type"]))).toEqual(["SSL/TLS", "SSL/TLS"]);
      await expect(cipher(address(other, ca))).rejects.toMatchObject({ code: "CONNECTION_LOST", message: expect.stringContaining(other) as string });
      await expect(dump(address(other, ca))).rejects.toMatchObject({ code: "CONNECTION_LOST", message: expect.stringContaining(other) as string });
    }
  } finally {
    admin.destroy();
    await rm(folder, { recursive: true });
  }
}, 120_000);

/** What a session is encrypted by. */
async function cipher(at: ServerAddress): Promise<string> {
  const session = await openSession(at, { role: "source", signal, worker: "w", deployment: "d" });
  const [row] = await session.rows("SHOW SESSION STATUS LIKE 'Ssl_cipher'" as ByteSql);
  session.destroy();
  return row?.["Value"] ?? "";
}

async function dump(at: ServerAddress): Promise<Recorder> {
  return await Recorder.open({ server: at, position: "", schema: "none", stream: tlsOptions(at) });
}

/** A CA and a certificate of it for these names (`DNS:…` or `IP:…`), in the server's folder. @returns the CA's file */
async function certify(folder: string, names: string): Promise<string> {
  const file = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => run("openssl", args);
  await openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test CA", "-keyout", file("t-ca-key.pem"), "-out", file("t-ca.pem"));
  await openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=test server", "-keyout", file("t-key.pem"), "-out", file("t-request.pem"));
  await writeFile(file("t-names"), `subjectAltName=${names}\n`);
  await openssl("x509", "-req", "-in", file("t-request.pem"), "-CA", file("t-ca.pem"), "-CAkey", file("t-ca-key.pem"), "-CAcreateserial", "-days", "2", "-extfile", file("t-names"), "-out", file("t-cert.pem"));
  await run("chmod", ["644", file("t-key.pem"), file("t-cert.pem"), file("t-ca.pem")]);
  return file("t-ca.pem");
}
