import { expect, test } from "vitest";
import { problemOf } from "../../../../src/producers/api/problem.js";
import { DroverError } from "../../../../src/shared/errors.js";

test("cures that only the problems have stand at the top, too, once each", () => {
  const problems = ["do a", "do b", "do a", ""].map((cure, i) => ({ code: `p${i}`, message: "m", cure }));
  expect(problemOf(new DroverError("PREFLIGHT_FAILED", "no", { problems })).cure).toBe("do a; do b");
  expect(problemOf(new DroverError("PREFLIGHT_FAILED", "no", { problems, cure: "own" })).cure).toBe("own");
  expect(problemOf(new DroverError("NOT_FOUND", "no")).cure).toBeNull();
});

test("a wrong content type says which one is right", () => {
  expect(problemOf(Object.assign(new Error("Unsupported Media Type"), { statusCode: 415 }))).toMatchObject({ code: "MEDIA_TYPE", cure: expect.stringContaining("application/json") });
});
