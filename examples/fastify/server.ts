/** A service that starts migrations for others: Fastify. */
import { DroverError, DroverHttpClient, type MigrationSpecInput } from "drover/client";
import fastify from "fastify";

const token = process.env["DROVER_API_TOKEN"];
const drover = new DroverHttpClient({ url: process.env["DROVER_API_URL"] ?? "http://127.0.0.1:3000", ...(token === undefined ? {} : { token }) });
const server = fastify();

server.setErrorHandler(async (error, _request, reply) => {
  // All problems at once, each with its path and cure: hand them on.
  if (error instanceof DroverError) return await reply.code(error.kind === "config" ? 422 : 503).send({ code: error.code, message: error.message, cure: error.cure, problems: error.problems });
  throw error;
});

server.post("/tenants/:tenant/move", async (request, reply) => {
  const { tenant } = request.params as { tenant: string };
  const spec: MigrationSpecInput = { id: `tenant-${tenant}`, source: "SRC", target: "DST", tables: [{ schema: `tenant_${tenant}` }] };
  const { id, known } = await drover.startMigration(spec, { preflight: true });
  return await reply.code(known === null ? 201 : 200).send({ id });
});

server.get("/tenants/:tenant/move", async (request) => {
  const { tenant } = request.params as { tenant: string };
  const { phase, lagSeconds, etaSeconds, error } = await drover.status(`tenant-${tenant}`);
  return { phase, lagSeconds, etaSeconds, error };
});

await server.listen({ port: 8080 });
