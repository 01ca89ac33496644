/** A service that starts migrations for others: Express 5, which hands a rejected promise to the error handler by itself. */
import { DroverError, DroverHttpClient, type MigrationSpecInput } from "drover/client";
import express, { type ErrorRequestHandler } from "express";

const token = process.env["DROVER_API_TOKEN"];
const drover = new DroverHttpClient({ url: process.env["DROVER_API_URL"] ?? "http://127.0.0.1:3000", ...(token === undefined ? {} : { token }) });
const app = express();

app.post("/tenants/:tenant/move", async (request, response) => {
  const { tenant } = request.params;
  const spec: MigrationSpecInput = { id: `tenant-${tenant}`, source: "SRC", target: "DST", tables: [{ schema: `tenant_${tenant}` }] };
  const { id, known } = await drover.startMigration(spec, { preflight: true });
  response.status(known === null ? 201 : 200).json({ id });
});

app.get("/tenants/:tenant/move", async (request, response) => {
  const { phase, lagSeconds, etaSeconds, error } = await drover.status(`tenant-${request.params.tenant}`);
  response.json({ phase, lagSeconds, etaSeconds, error });
});

const onError: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (!(error instanceof DroverError)) return void next(error);
  response.status(error.kind === "config" ? 422 : 503).json({ code: error.code, message: error.message, cure: error.cure, problems: error.problems });
};
app.use(onError);

app.listen(8080);
