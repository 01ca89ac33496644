/** A chunk that fails as often as it may stops the migration; whoever resumes it gives the chunk a fresh start. */
import { expect, it } from "vitest";
import { DdlScene, Gate, numbered } from "./ddl-scene.js";
import { until } from "../support/fault-scene.js";

it("a chunk that was poison may fail again after resume", async () => {
  const gate = new Gate();
  gate.close();
  await using scene = await DdlScene.start({ hooks: gate, before: `CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(40)); ${numbered("a", 50)}` });
  await gate.waiting();
  // Nineteen failures take more than a minute; the twentieth is real.
  await scene.ctx.target.query(`UPDATE ${scene.ctx.stateSchema}.chunks SET attempts=19`);
  gate.failures.set("chunk:before-read", 1);
  gate.pass();
  await until(async () => (await scene.client.status("m")).phase === "failed", "the chunk to be poison", 45_000);
  expect((await scene.client.status("m")).error).toMatchObject({ code: "POISON" });
  gate.failures.set("chunk:before-read", 1);
  await scene.client.resume("m");
  await scene.streaming();
  expect(gate.failures.get("chunk:before-read")).toBe(0);
  expect(await scene.differences()).toEqual([]);
});
