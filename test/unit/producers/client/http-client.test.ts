/** `last` over HTTP: the diff that it was at the first look, though a schedule starts newer ones meanwhile. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { DroverHttpClient } from "../../../../src/producers/client/http-client.js";

async function board(answers: readonly [status: number, body: object][]) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    request.resume();
    const [status, body] = answers[asked.length] ?? [500, {}];
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { asked, client: new DroverHttpClient({ url: `http://127.0.0.1:${port}` }), [Symbol.asyncDispose]: close };
}

test("a wait stays with the diff of its first answer", async () => {
  const report = { diffId: "first", state: "running" };
  await using scene = await board([[200, { ended: false, report }], [200, { ended: true, report: { ...report, state: "completed" } }]]);
  expect(await scene.client.waitForDiff("shop", "last")).toMatchObject({ diffId: "first", state: "completed" });
  expect(scene.asked).toEqual(["POST /api/v1/migrations/shop/diffs/last/wait", "POST /api/v1/migrations/shop/diffs/first/wait"]);
});

test("a repair is looked for where it was begun", async () => {
  const report = { diffId: "first", state: "pending" };
  await using scene = await board([[202, report], [200, { ...report, state: "completed" }]]);
  expect(await scene.client.repairDiff("shop", "last")).toMatchObject({ diffId: "first", state: "completed" });
  expect(scene.asked).toEqual(["POST /api/v1/migrations/shop/diffs/last/repair", "GET /api/v1/migrations/shop/diffs/first/repair"]);
});
