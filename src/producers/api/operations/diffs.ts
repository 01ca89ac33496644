/** `/api/v1/migrations/{id}/diffs`. Rows' values are never shown here, only keys and the names of columns. */
import { diffReport, repairReport, type DiffReport } from "../../../shared/contracts/diff.js";
import { parseContract } from "../../../shared/contracts/spec.js";
import { DroverError } from "../../../shared/errors.js";
import type { DroverClient } from "../../client/drover-client.js";
import { diffList, diffWaitRequest, diffWaitResult, listDiffsQuery, repairRequest, startDiffRequest, startDiffResult } from "../../../shared/contracts/http.js";
import { ok, param, type Answer, type Call, type Operation } from "../operation.js";

const ONE = "/migrations/{id}/diffs/{diffId}";
const REPORT = { 200: { description: "its report", contract: diffReport } };

export const diffOperations: readonly Operation[] = [
  {
    id: "startDiff", method: "POST", path: "/migrations/{id}/diffs", summary: "Start a comparison of both sides",
    description: "With a diffId, the same id with the same options is the same diff, and nothing is changed; so a request may be sent again when its answer was lost.",
    body: { contract: startDiffRequest, required: false },
    answers: { 201: { description: "it has begun", contract: startDiffResult }, 200: { description: "it was there already, with the same options", contract: startDiffResult } },
    run: async (client, call) => {
      const id = param(call, "id");
      const { diffId: wanted, ...options } = parseContract(startDiffRequest, call.body ?? {}, "the diff's options");
      const { diffId, known } = await client.startDiff(id, options, { diffId: wanted });
      return { status: known === null ? 201 : 200, body: { id, diffId, known }, headers: { location: `/api/v1/migrations/${id}/diffs/${diffId}` } };
    },
  },
  {
    id: "listDiffs", method: "GET", path: "/migrations/{id}/diffs", summary: "The diffs of a migration",
    query: listDiffsQuery,
    answers: { 200: { description: "newest first, without samples", contract: diffList } },
    run: async (client, call) => ok({ diffs: await client.listDiffs(param(call, "id"), { ...parseContract(listDiffsQuery, call.query, "the query"), signal: call.signal }) }),
  },
  {
    id: "showDiff", method: "GET", path: ONE, summary: "The report of a diff, with samples; the id `last` is the newest",
    answers: REPORT,
    run: async (client, call) => ok(await client.showDiff(param(call, "id"), param(call, "diffId"), { signal: call.signal })),
  },
  {
    id: "deleteDiff", method: "DELETE", path: ONE, summary: "Delete a diff",
    answers: { 200: { description: "its last report", contract: diffReport } },
    run: async (client, call) => ok(await client.deleteDiff(param(call, "id"), param(call, "diffId"))),
  },
  {
    id: "stopDiff", method: "POST", path: `${ONE}/stop`, summary: "Stop a diff, or the repair of one", answers: REPORT,
    run: async (client, call) => ok(await client.stopDiff(param(call, "id"), param(call, "diffId"))),
  },
  {
    id: "resumeDiff", method: "POST", path: `${ONE}/resume`, summary: "Take up a stopped or failed diff where it stood", answers: REPORT,
    run: async (client, call) => ok(await client.resumeDiff(param(call, "id"), param(call, "diffId"))),
  },
  {
    id: "waitForDiff", method: "POST", path: `${ONE}/wait`, summary: "Wait for a diff's end, for a bounded time", waits: true,
    body: { contract: diffWaitRequest, required: false },
    answers: { 200: { description: "whether it has ended, and the report", contract: diffWaitResult } },
    run: wait,
  },
  {
    id: "repairDiff", method: "POST", path: `${ONE}/repair`, summary: "Make the target equal the source where the diff confirmed a difference",
    description: "Answers at once; the report comes by GET.",
    body: { contract: repairRequest, required: false },
    answers: { 202: { description: "the report as it is now", contract: repairReport } },
    run: async (client, call) => {
      const id = param(call, "id");
      // `last` may be another one a moment later.
      const { diffId } = await client.startRepair(id, param(call, "diffId"), parseContract(repairRequest, call.body ?? {}, "the request's body"));
      return { status: 202, body: await client.showRepair(id, diffId, { signal: call.signal }), headers: { location: `/api/v1/migrations/${id}/diffs/${diffId}/repair` } };
    },
  },
  {
    id: "showRepair", method: "GET", path: `${ONE}/repair`, summary: "The report of a diff's latest repair",
    answers: { 200: { description: "its report", contract: repairReport } },
    run: async (client, call) => {
      const report = await client.showRepair(param(call, "id"), param(call, "diffId"), { signal: call.signal });
      if (report === null) throw new DroverError("NOT_FOUND", `diff ${param(call, "diffId")} was never repaired`, { cure: "POST to the same path starts a repair" });
      return ok(report);
    },
  },
];

async function wait(client: DroverClient, call: Call): Promise<Answer> {
  const { timeoutSeconds } = parseContract(diffWaitRequest, call.body ?? {}, "the request's body");
  let latest: DiffReport | undefined;
  const onReport = (report: DiffReport) => (latest = report);
  try {
    return ok({ ended: true, report: await client.waitForDiff(param(call, "id"), param(call, "diffId"), { timeout: timeoutSeconds * 1_000, signal: call.signal, onReport }) });
  } catch (error) {
    if (!(error instanceof DroverError) || error.code !== "TIMEOUT" || latest === undefined) throw error;
    return ok({ ended: false, report: latest });
  }
}
