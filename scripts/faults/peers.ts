/**
 * What other tools do when they are stopped in the middle of a dump (SIGSTOP: a host that hangs, a paused container): how long
 * an ALTER of the table that is being dumped waits. Bounded, for some wait as long as the server's `wait_timeout` of 8 hours.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import mysql, { type RowDataPacket } from "mysql2/promise";
import { debianPackage, type MysqlServer } from "../servers/index.js";

export interface PeerReport {
  peer: string;
  version: string;
  ddlWaitMs: number;
  /** The wait was given up at the bound: it is longer. */
  stillWaiting: boolean;
}

/** Seconds. */
const PEER_BOUND = 60;
const ROWS = 400_000;
const SCHEMA = "faults_peer";
const PASSWORD = "peer-password";

const PEERS: Record<string, { package: string; args: (server: MysqlServer, folder: string) => string[] }> = {
  mydumper: {
    package: "mydumper",
    args: (server, folder) => [`--host=${server.host}`, `--port=${server.port}`, "--user=peer", `--password=${PASSWORD}`, "--threads=4", `--database=${SCHEMA}`, `--outputdir=${folder}`],
  },
  mysqldump: {
    package: "mysql-client-core",
    args: (server) => ["--no-defaults", `--host=${server.host}`, `--port=${server.port}`, "--user=peer", "--single-transaction", "--set-gtid-purged=OFF", SCHEMA],
  },
};

export async function measurePeers(source: MysqlServer, log: (line: string) => void): Promise<PeerReport[]> {
  const db = await mysql.createConnection({ uri: source.url, multipleStatements: true });
  try {
    await db.query(`SET SESSION sql_log_bin=0, cte_max_recursion_depth=10000000; CREATE USER 'peer'@'%' IDENTIFIED BY '${PASSWORD}'; GRANT ALL ON *.* TO 'peer'@'%'`);
    await db.query(`CREATE DATABASE ${SCHEMA}; CREATE TABLE ${SCHEMA}.t (id INT PRIMARY KEY, v VARCHAR(400));
      INSERT INTO ${SCHEMA}.t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<${ROWS}) SELECT i, REPEAT('v', 300) FROM n`);
    const reports: PeerReport[] = [];
    for (const name of Object.keys(PEERS)) reports.push(await measurePeer(name, source, db, log));
    return reports;
  } finally {
    await db.query(`DROP DATABASE IF EXISTS ${SCHEMA}; DROP USER IF EXISTS 'peer'@'%'`).catch(() => undefined);
    db.destroy();
  }
}

async function measurePeer(name: string, source: MysqlServer, db: mysql.Connection, log: (line: string) => void): Promise<PeerReport> {
  const peer = PEERS[name] as (typeof PEERS)[string];
  const unpacked = await debianPackage([peer.package], { log });
  const command = await unpacked.command(name);
  const folder = await mkdtemp(join(tmpdir(), "drover-faults-peer-"));
  log(`${name}: dump, stop, ALTER for at most ${PEER_BOUND} s`);
  const child = spawn(command.file, [...command.args, ...peer.args(source, folder)], { env: { ...process.env, ...command.env, MYSQL_PWD: PASSWORD }, stdio: "ignore" });
  const ended = once(child, "close");
  try {
    for (const until = Date.now() + 30_000; ; await sleep(5)) {
      const [rows] = await db.query<RowDataPacket[]>(`SELECT 1 FROM information_schema.PROCESSLIST WHERE USER='peer' AND INFO LIKE 'SELECT%FROM%\`t\`%' AND INFO NOT LIKE '%MIN(%' AND STATE LIKE 'Sending%'`);
      if (rows.length > 0) break;
      if (child.exitCode !== null || Date.now() > until) throw new Error(`${name} was not seen dumping`);
    }
    child.kill("SIGSTOP");
    const begin = performance.now();
    const stillWaiting = await db.query(`SET SESSION lock_wait_timeout=${PEER_BOUND}; ALTER TABLE ${SCHEMA}.t COMMENT='probed'`).then(() => false, (error: { errno?: number }) => {
      if (error.errno !== 1205) throw error;
      return true;
    });
    return { peer: name, version: unpacked.versions[peer.package] ?? "", ddlWaitMs: Math.round(performance.now() - begin), stillWaiting };
  } finally {
    child.kill("SIGKILL");
    await ended;
    await rm(folder, { recursive: true, force: true });
  }
}
