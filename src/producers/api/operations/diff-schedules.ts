/** `/api/v1/migrations/{id}/diff-schedules`. */
import { diffSchedule } from "../../../shared/contracts/diff.js";
import { scheduleList, scheduleReference, scheduleRequest } from "../../../shared/contracts/http.js";
import { parseContract } from "../../../shared/contracts/spec.js";
import { DroverError } from "../../../shared/errors.js";
import { ok, param, type Operation } from "../operation.js";

const ALL = "/migrations/{id}/diff-schedules";
const ONE = `${ALL}/{name}`;
const SCHEDULE = { 200: { description: "the schedule", contract: diffSchedule } };

export const diffScheduleOperations: readonly Operation[] = [
  {
    id: "listDiffSchedules", method: "GET", path: ALL, summary: "The schedules of a migration's diffs",
    answers: { 200: { description: "all of them, by name", contract: scheduleList } },
    run: async (client, call) => ok({ schedules: await client.listDiffSchedules(param(call, "id"), { signal: call.signal }) }),
  },
  {
    id: "showDiffSchedule", method: "GET", path: ONE, summary: "A schedule of diffs", answers: SCHEDULE,
    run: async (client, call) => {
      const [id, name] = [param(call, "id"), param(call, "name")];
      const found = (await client.listDiffSchedules(id, { signal: call.signal })).find((one) => one.name === name);
      if (found === undefined) throw new DroverError("NOT_FOUND", `migration ${id} has no schedule of that name`, { cure: "PUT to the same path makes it" });
      return ok(found);
    },
  },
  {
    id: "scheduleDiff", method: "PUT", path: ONE, summary: "Start a diff at once and then at every interval",
    description: "A schedule of the same name is replaced, so a request may be sent again when its answer was lost.",
    body: { contract: scheduleRequest, required: true }, answers: SCHEDULE,
    run: async (client, call) => ok(await client.scheduleDiff(param(call, "id"), { ...parseContract(scheduleRequest, call.body, "the diff's schedule"), name: param(call, "name") })),
  },
  {
    id: "unscheduleDiff", method: "DELETE", path: ONE, summary: "End a schedule; its diffs stay",
    answers: { 200: { description: "it is gone", contract: scheduleReference } },
    run: async (client, call) => ok(await client.unscheduleDiff(param(call, "id"), param(call, "name"))),
  },
];
