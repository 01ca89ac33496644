/** `/api/v1/migrations` and `/api/v1/check`. */
import { migrationSpec, parseContract, type MigrationSpecInput } from "../../../shared/contracts/spec.js";
import { migrationStatus, type MigrationStatus } from "../../../shared/contracts/status.js";
import { DroverError } from "../../../shared/errors.js";
import { blocking } from "../../../shared/preflight/finding.js";
import type { DroverClient } from "../../client/drover-client.js";
import { checkResult, migrationList, startQuery, startResult, waitRequest, waitResult } from "../../../shared/contracts/http.js";
import { ok, param, type Answer, type Call, type Operation } from "../operation.js";

const STATUS = { 200: { description: "its status", contract: migrationStatus } };

const COMMANDS = [
  ["pause", "Keep everything as it is, until resume"],
  ["resume", "Go on where a paused or failed migration stood"],
  ["stop", "End a migration for good; the target keeps its rows"],
] as const;

export const migrationOperations: readonly Operation[] = [
  {
    id: "startMigration", method: "POST", path: "/migrations", summary: "Start a migration",
    description: "The same id with the same spec is the same migration, and nothing is changed; so a request may be sent again when its answer was lost.",
    query: startQuery, body: { contract: migrationSpec, required: true },
    answers: { 201: { description: "it is new", contract: startResult }, 200: { description: "it was there already, with the same spec", contract: startResult } },
    run: async (client, { query, body, signal }) => {
      const { preflight } = parseContract(startQuery, query, "the query");
      const { id, known, accepted, warnings } = await client.startMigration(body as MigrationSpecInput, { preflight: preflight === "true", signal });
      return { status: known === null ? 201 : 200, body: { id, known, accepted, warnings }, headers: { location: `/api/v1/migrations/${id}` } };
    },
  },
  {
    id: "listMigrations", method: "GET", path: "/migrations", summary: "The status of every migration, oldest first",
    answers: { 200: { description: "all of them", contract: migrationList } },
    run: async (client, { signal }) => ok(await client.listMigrations({ signal })),
  },
  {
    id: "showMigration", method: "GET", path: "/migrations/{id}", summary: "The status of a migration",
    answers: STATUS,
    run: async (client, call) => ok(await client.status(param(call, "id"), { signal: call.signal })),
  },
  {
    id: "removeMigration", method: "DELETE", path: "/migrations/{id}", summary: "Forget a migration that has ended or is paused; never its rows",
    answers: { 200: { description: "its last status", contract: migrationStatus } },
    run: async (client, call) => ok(await client.remove(param(call, "id"))),
  },
  ...COMMANDS.map(
    ([command, summary]): Operation => ({
      id: `${command}Migration`, method: "POST", path: `/migrations/{id}/${command}`, summary, answers: STATUS,
      run: async (client, call) => ok(await client[command](param(call, "id"))),
    }),
  ),
  {
    id: "waitForMigration", method: "POST", path: "/migrations/{id}/wait", summary: "Wait until a migration has reached a phase, for a bounded time", waits: true,
    body: { contract: waitRequest, required: true },
    answers: { 200: { description: "whether it was reached, and the status", contract: waitResult } },
    run: wait,
  },
  {
    id: "check", method: "POST", path: "/check", summary: "All problems of a spec and both servers at once; changes nothing",
    body: { contract: migrationSpec, required: true },
    answers: { 200: { description: "ok is false when a problem blocks the start", contract: checkResult } },
    run: async (client, { body, signal }) => {
      const problems = await client.check(body as MigrationSpecInput, { signal });
      return ok({ ok: blocking(problems).length === 0, problems });
    },
  },
];

async function wait(client: DroverClient, call: Call): Promise<Answer> {
  const { signal } = call;
  const id = param(call, "id");
  const wanted = parseContract(waitRequest, call.body, "the request's body");
  // Asked for here, so that the next request can go on waiting for the same.
  const position = wanted.for === "caught-up" ? (wanted.position ?? (await client.sourcePosition(id, { signal }))) : null;
  let latest: MigrationStatus | undefined;
  const onStatus = (status: MigrationStatus) => (latest = status);
  try {
    return ok({ reached: true, position, status: await client.waitFor(id, wanted.for, { timeout: wanted.timeoutSeconds * 1_000, signal, onStatus, position: position ?? undefined }) });
  } catch (error) {
    if (!(error instanceof DroverError) || error.code !== "TIMEOUT" || latest === undefined) throw error;
    return ok({ reached: false, position, status: latest });
  }
}
