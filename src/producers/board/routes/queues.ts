/** `/queues`: Bull Board over all queues. Payloads hold names and ids only, so there is nothing to hide in them. */
import { createBullBoard } from "@bull-board/api";
import { BullMQAdapter } from "@bull-board/api/bullMQAdapter";
import { FastifyAdapter } from "@bull-board/fastify";
import type { Queue } from "bullmq";
import type { Queues } from "../../../shared/queues.js";
import type { BoardPlugin } from "../plugin.js";

const BASE = "/queues";

/** Bull Board writes style elements, and its page has a base; its scripts are files, and its fonts from elsewhere are not loaded. */
const CONTENT_SECURITY_POLICY = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data:; font-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'";

const DESCRIPTIONS: Record<keyof Queues, string> = {
  control: "commands, and the reconciler's turns",
  copy: "chunks of tables, planning, indexes",
  tail: "leases on reading a source's binlog",
  apply: "leases on applying batches to a target",
  diff: "comparisons",
};

export const queuesPlugin: BoardPlugin = async (scope, { queues, config }) => {
  scope.addHook("onSend", async (_request, reply) => {
    reply.header("content-security-policy", CONTENT_SECURITY_POLICY);
  });
  // Its own page's requests bring no CSRF token; that they come from our origin is checked all the same.
  scope.addHook("onRoute", (route) => {
    route.config = { ...route.config, csrfToken: false };
  });
  const adapter = new FastifyAdapter();
  adapter.setBasePath(BASE);
  createBullBoard({
    queues: Object.entries(queues).map(([name, queue]) => adapterOf(name as keyof Queues, queue, config.boardReadOnly)),
    serverAdapter: adapter,
    options: { uiConfig: { boardTitle: "Drover", miscLinks: [{ text: "Progress", url: "/" }] } },
  });
  await scope.register(adapter.registerPlugin(), { prefix: BASE });
};

function adapterOf(name: keyof Queues, queue: Queue, readOnly: boolean): BullMQAdapter {
  const adapter = new BullMQAdapter(queue, { description: DESCRIPTIONS[name], readOnlyMode: readOnly });
  adapter.setFormatter("name", (job: { name?: string; data?: unknown }) => jobTitle(job.name ?? "", job.data));
  return adapter;
}

/** `chunk shop 3/12`: what a job is about, from its payload. */
function jobTitle(name: string, data: unknown): string {
  const { migration, spec, diffId, table, chunk } = (data ?? {}) as { migration?: unknown; spec?: { id?: unknown }; diffId?: unknown; table?: unknown; chunk?: unknown };
  const place = [table, chunk].filter((part) => typeof part === "number").join("/");
  return [name, migration ?? spec?.id, diffId, place].filter((part): part is string => typeof part === "string" && part !== "").join(" ");
}
