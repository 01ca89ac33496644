/** `/queues`: Bull Board over all queues. Payloads hold names and ids only, so there is nothing to hide in them. */
import { createBullBoard } from "@bull-board/api";
import { BullMQAdapter } from "@bull-board/api/bullMQAdapter";
import { FastifyAdapter } from "@bull-board/fastify";
import type { Queue } from "bullmq";
import type { QueueName } from "../../../shared/queue-names.js";
import { QUEUE_DESCRIPTIONS, jobDataSchema, jobTitle, shownData } from "../job-data.js";
import type { BoardPlugin } from "../plugin.js";

const BASE = "/queues";

/** Bull Board writes style elements, and its page has a base; its scripts are files, and its fonts from elsewhere are not loaded. */
const CONTENT_SECURITY_POLICY = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data:; font-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'";

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
    queues: Object.entries(queues).map(([name, queue]) => adapterOf(name as QueueName, queue, config.boardReadOnly)),
    serverAdapter: adapter,
    options: { uiConfig: { boardTitle: "Drover", miscLinks: [{ text: "Progress", url: "/" }] } },
  });
  await scope.register(adapter.registerPlugin(), { prefix: BASE });
};

function adapterOf(name: QueueName, queue: Queue, readOnly: boolean): BullMQAdapter {
  const adapter = new BullMQAdapter(queue, { description: QUEUE_DESCRIPTIONS[name], readOnlyMode: readOnly, jobDataSchema: jobDataSchema(name) });
  adapter.setFormatter("name", (job: { name?: string; data?: unknown }) => jobTitle(job.name ?? "", job.data));
  adapter.setFormatter("data", shownData);
  return adapter;
}
