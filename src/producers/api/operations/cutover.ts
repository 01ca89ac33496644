/** `/api/v1/migrations/{id}/cutover`. */
import { cutoverReport } from "../../../shared/contracts/cutover.js";
import { parseContract } from "../../../shared/contracts/spec.js";
import { DroverError } from "../../../shared/errors.js";
import { cutoverRequest } from "../../../shared/contracts/http.js";
import { ok, param, type Operation } from "../operation.js";

const PATH = "/migrations/{id}/cutover";
const REPORT = { description: "its report", contract: cutoverReport };

export const cutoverOperations: readonly Operation[] = [
  {
    id: "startCutover", method: "POST", path: PATH, summary: "Cut a migration over to its target",
    description: "Answers at once, or with everything that stands in the way; the report comes by GET. One that is under way is the same one.",
    body: { contract: cutoverRequest, required: false },
    answers: { 202: { description: "it has begun", contract: cutoverReport }, 200: { description: "dryRun: what it would do, and what stands in the way", contract: cutoverReport } },
    run: async (client, call) => {
      const id = param(call, "id");
      const { dryRun, ...options } = parseContract(cutoverRequest, call.body ?? {}, "the request's body");
      const report = await client.startCutover(id, options, { dryRun });
      return dryRun ? ok(report) : { status: 202, body: report, headers: { location: `/api/v1/migrations/${id}/cutover` } };
    },
  },
  {
    id: "showCutover", method: "GET", path: PATH, summary: "The latest cut-over of a migration", answers: { 200: REPORT },
    run: async (client, call) => {
      const report = await client.showCutover(param(call, "id"));
      if (report === null) throw new DroverError("NOT_FOUND", `migration ${param(call, "id")} was never cut over`, { cure: "POST to the same path starts it" });
      return ok(report);
    },
  },
  {
    id: "abortCutover", method: "POST", path: `${PATH}/abort`, summary: "Take a cut-over back that is under way, before the point of no return", waits: true,
    answers: { 200: { description: "its report, when everything is put back", contract: cutoverReport } },
    run: async (client, call) => ok(await client.abortCutover(param(call, "id"), { signal: call.signal })),
  },
];
