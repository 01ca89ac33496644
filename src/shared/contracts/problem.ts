/** What is wrong, as programs are told: in `--json` output, in the HTTP API, in a failed job. */
import { z } from "zod";

const problem = z.object({
  code: z.string().describe("a stable name such as binlog-row-image, or the path of a wrong key"),
  path: z.string().exactOptional().describe("the wrong key, where something written by the user is wrong: tables.0.schema"),
  message: z.string(),
  cure: z.string(),
});

/** A problem with its weight: an error blocks the start, a warning does not. */
export const finding = z.object({ ...problem.shape, severity: z.enum(["error", "warning"]) });

export const encodedError = z.object({
  code: z.string(),
  errno: z.number().int().nullable(),
  sqlState: z.string().nullable(),
  message: z.string(),
  cure: z.string().nullable(),
  problems: z.array(problem),
});

/** An error as the HTTP API answers it (RFC 9457). */
export const problemDocument = z.object({
  type: z.string().describe("urn:drover:problem:… with the code in lower case"),
  title: z.string(),
  status: z.number().int(),
  detail: z.string(),
  code: z.string().describe("the error's code, the same as everywhere else in Drover"),
  cure: z.string().nullable(),
  problems: z.array(z.object({ ...problem.shape, path: z.string().nullable() })).describe("everything that is wrong, not the first only"),
});
export type ProblemDocument = z.output<typeof problemDocument>;
