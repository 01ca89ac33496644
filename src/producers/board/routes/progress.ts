/** `/progress.json`: what the page shows. */
import type { MigrationList } from "../../client/call-options.js";
import type { BoardPlugin } from "../plugin.js";

/** However many browsers look, the servers are asked this often; milliseconds. */
const FRESH = 900;

export const progressPlugin: BoardPlugin = (scope, { client }) => {
  let latest: { at: number; list: Promise<MigrationList> } | undefined;
  scope.get("/progress.json", async (_request, reply) => {
    if (latest === undefined || Date.now() - latest.at > FRESH) latest = { at: Date.now(), list: client.listMigrations() };
    const list = await latest.list;
    return await reply.header("cache-control", "no-store").send(list);
  });
};
