/** The faults. Each strikes once, tells when it is over, and is undone when the run ends. */
import { setTimeout as sleep } from "node:timers/promises";
import mysql, { type RowDataPacket } from "mysql2/promise";
import type { Rig, RigWorker } from "./rig.js";

export const FAULTS = [
  "none", "kill9", "sigstop", "sigterm", "cut-source", "cut-target", "cut-redis", "restart-source", "kill9-target", "kill9-redis", "flush-redis", "kill-connections",
] as const;
export type FaultName = (typeof FAULTS)[number];

/** How long a stopped worker sleeps: until its jobs have stalled and are done by others. Milliseconds. */
const ZOMBIE_SLEEP = 25_000;
/** How long a server that was ended stays away. */
const OUTAGE = 3_000;

/** @returns when recovery can begin, milliseconds since the epoch: for an outage when the server is back, else the blow itself */
export async function strike(fault: FaultName, rig: Rig, victim: RigWorker): Promise<number> {
  const struck = Date.now();
  switch (fault) {
    case "none":
      return struck;
    case "kill9":
      await victim.process.kill();
      return struck;
    case "sigstop":
      victim.process.signal("SIGSTOP");
      // It wakes as a zombie while the others have its work; the run goes on meanwhile.
      rig.later(sleep(ZOMBIE_SLEEP).then(() => victim.process.signal("SIGCONT")));
      return struck;
    case "sigterm":
      rig.later(victim.process.stop().then((ms) => rig.note("sigtermMs", ms)));
      return struck;
    case "cut-source":
      victim.proxies.source.cutLine();
      return struck;
    case "cut-target":
      victim.proxies.target.cutLine();
      return struck;
    case "cut-redis":
      victim.proxies.redis.cutLine();
      return struck;
    case "restart-source":
      await rig.source.stop();
      await rig.source.start();
      return Date.now();
    case "kill9-target":
      await rig.target.kill();
      await sleep(OUTAGE);
      await rig.target.start();
      return Date.now();
    case "kill9-redis":
      await rig.redis.kill();
      await sleep(OUTAGE);
      await rig.redis.start();
      return Date.now();
    case "flush-redis":
      await rig.flushRedis();
      return struck;
    case "kill-connections":
      await Promise.all([killSome(rig.source.url, rig.user), killSome(rig.target.url, rig.user)]);
      return struck;
  }
}

/** Kills each of our sessions on a server with even odds, at least one. */
async function killSome(url: string, user: string): Promise<void> {
  const connection = await mysql.createConnection(url);
  try {
    const [rows] = await connection.query<RowDataPacket[]>("SELECT ID AS id FROM information_schema.PROCESSLIST WHERE USER=?", [user]);
    const chosen = rows.filter((_row, i) => i % 2 === 0);
    for (const row of chosen) await connection.query(`KILL ${Number(row["id"])}`).catch(() => undefined);
  } finally {
    connection.destroy();
  }
}
