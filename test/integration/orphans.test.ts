/** Sessions of dead workers are ended on both servers, and nobody else's (design §5): the servers' own time limits would not reach these. */
import { inject, expect, it } from "vitest";
import mysql, { type Connection } from "mysql2/promise";
import { FaultScene, numbered, until } from "../support/fault-scene.js";

it("ends the sessions of a worker that has no heartbeat, even in the middle of a statement, and those of no other", async () => {
  const { source, target, redis } = inject("servers");
  await using scene = await FaultScene.open({ source, target, redis }, numbered("t", 10));
  await scene.worker();
  await scene.start();
  await scene.phase("streaming");
  const [own] = await scene.sql<{ deployment: string; worker: string }>("target", `SELECT d.ATTR_VALUE AS deployment, w.ATTR_VALUE AS worker FROM performance_schema.session_connect_attrs AS d
    JOIN performance_schema.session_connect_attrs AS w ON w.PROCESSLIST_ID=d.PROCESSLIST_ID AND w.ATTR_NAME='drover_worker' AND w.ATTR_VALUE LIKE 'w-%'
    JOIN information_schema.PROCESSLIST AS p ON p.ID=d.PROCESSLIST_ID AND p.USER='${scene.id}' WHERE d.ATTR_NAME='drover_deployment' LIMIT 1`);
  const opened: Connection[] = [];
  const session = async (server: string, worker: string, deployment: string) => {
    const connection = await mysql.createConnection({ uri: scene.urlOn(server), connectAttributes: { drover_worker: worker, drover_deployment: deployment } });
    connection.on("error", () => undefined);
    opened.push(connection);
    // It works in silence, so no time limit for idle or blocked sessions would end it.
    const state = { ended: false };
    void connection.query("SELECT SLEEP(120)").then(() => (state.ended = true), () => (state.ended = true));
    return state;
  };
  try {
    const deployment = own?.deployment ?? "";
    const dead = [await session(source, "w-dead-1", deployment), await session(target, "w-dead-1", deployment)];
    const others = [await session(target, own?.worker ?? "", deployment), await session(target, "w-dead-1", `${deployment}-other`), await session(target, "cli-1", deployment)];
    const began = Date.now();
    await until(async () => dead.every((each) => each.ended), "the dead worker's sessions to end", 25_000);
    expect(Date.now() - began).toBeGreaterThan(4_000);
    expect(others.map((each) => each.ended)).toEqual([false, false, false]);
  } finally {
    for (const connection of opened) connection.destroy();
  }
}, 60_000);
