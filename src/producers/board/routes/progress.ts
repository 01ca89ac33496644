/** `/progress.json`: what the page shows. */
import type { FastifyInstance } from "fastify";
import type { MigrationList } from "../../client/call-options.js";
import type { DroverClient } from "../../client/drover-client.js";

/** However many browsers look, the servers are asked this often; milliseconds. */
const FRESH = 900;

export function addProgressRoutes(server: FastifyInstance, client: DroverClient): void {
  let latest: { at: number; list: Promise<MigrationList> } | undefined;
  server.get("/progress.json", async (_request, reply) => {
    if (latest === undefined || Date.now() - latest.at > FRESH) latest = { at: Date.now(), list: client.listMigrations() };
    const list = await latest.list;
    return await reply.header("cache-control", "no-store").send(list);
  });
}
