/** `/queues`: Bull Board over all queues. Payloads hold names and ids only, so there is nothing to hide in them. */
import { createBullBoard } from "@bull-board/api";
import { BullMQAdapter } from "@bull-board/api/bullMQAdapter";
import { FastifyAdapter } from "@bull-board/fastify";
import type { FastifyInstance } from "fastify";
import type { Queues } from "../../../shared/queues.js";

const BASE = "/queues";

const DESCRIPTIONS: Record<keyof Queues, string> = {
  control: "commands, and the reconciler's turns",
  copy: "chunks of tables, planning, indexes",
  tail: "leases on reading a source's binlog",
  apply: "leases on applying batches to a target",
  diff: "comparisons",
};

export async function addQueueRoutes(server: FastifyInstance, queues: Queues): Promise<void> {
  const adapter = new FastifyAdapter();
  adapter.setBasePath(BASE);
  createBullBoard({
    queues: Object.entries(queues).map(([name, queue]) => new BullMQAdapter(queue, { description: DESCRIPTIONS[name as keyof Queues] })),
    serverAdapter: adapter,
    options: { uiConfig: { boardTitle: "Drover", miscLinks: [{ text: "Progress", url: "/" }] } },
  });
  await server.register(adapter.registerPlugin(), { prefix: BASE });
}
