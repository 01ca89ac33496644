/** What zod found wrong, in words for whoever wrote it; never with the value, which may be a secret. */
import type { z } from "zod";
import type { Problem } from "../errors.js";
import { similarWord } from "../similar.js";

const KINDS: Record<string, string> = {
  string: "a text", number: "a number", int: "a whole number", boolean: "true or false", array: "a list", object: "an object with keys", record: "an object with keys",
};

/** zod's error map for a parse: its own texts are for programmers. */
export const plainIssue: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === "invalid_type") return issue.input === undefined ? "is missing" : `must be ${KINDS[issue.expected] ?? issue.expected}, is ${kindOf(issue.input)}`;
  if (issue.code === "invalid_value") return `must be ${issue.values.length > 1 ? "one of " : ""}${issue.values.join(", ")}`;
  if (issue.code === "invalid_union") {
    const types = issue.errors.map(([first]) => (first?.code === "invalid_type" ? (KINDS[first.expected] ?? first.expected) : null));
    if (types.every((type) => type !== null)) return `must be ${types.join(" or ")}, is ${kindOf(issue.input)}`;
    return issue.errors.flat().find((one) => one.code !== "invalid_type" && one.code !== "invalid_value")?.message;
  }
  if (issue.code === "too_small") {
    if (issue.origin === "string") return Number(issue.minimum) === 1 ? "must not be empty" : `must have at least ${issue.minimum} characters`;
    return issue.origin === "array" ? `must have at least ${issue.minimum} ${Number(issue.minimum) === 1 ? "entry" : "entries"}` : `must be at least ${issue.minimum}`;
  }
  if (issue.code === "too_big") return issue.origin === "string" ? `must have at most ${issue.maximum} characters` : `must be at most ${issue.maximum}`;
  return undefined;
};

function kindOf(input: unknown): string {
  if (input === null) return "empty (null)";
  if (Array.isArray(input)) return "a list";
  return KINDS[typeof input] ?? typeof input;
}

/** An issue with the keys that its object may have, where the schema's tree does not tell them. */
export type KnownKeys = { known?: readonly string[] };

/** One problem for each wrong key. @param what `the migration spec` */
export function issueProblems(issue: z.core.$ZodIssue & KnownKeys, contract: z.ZodType, what: string): Problem[] {
  const path = issue.path.map(String).join(".");
  if (issue.code === "unrecognized_keys") {
    const known = issue.known ?? keysAt(contract, issue.path);
    return issue.keys.map((key) => {
      const full = path === "" ? key : `${path}.${key}`;
      const meant = similarWord(key, known);
      return { code: full, path: full, message: `unknown key "${full}"`, cure: meant === undefined ? `remove it or correct its spelling${known.length === 0 ? "" : `; known here: ${known.join(", ")}`}` : `did you mean "${meant}"? Otherwise remove it` };
    });
  }
  const said = /^(?:is|must) /.test(issue.message) ? ` ${issue.message}` : `: ${issue.message}`;
  return [{ code: path || "spec", path, message: path === "" ? `${what}${said}` : `"${path}"${said}`, cure: `correct it in ${what}; the README and schema/ say what it may be` }];
}

/** The keys of the object at a path of a contract; none when it is not known. */
function keysAt(contract: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  let schema: z.core.$ZodType | undefined = bare(contract);
  for (const part of path) {
    const { def } = (schema as z.core.$ZodTypes | undefined)?._zod ?? {};
    if (def?.type === "object") schema = def.shape[String(part)];
    else if (def?.type === "array") schema = def.element;
    else if (def?.type === "record") schema = def.valueType;
    else return [];
    if (schema === undefined) return [];
    schema = bare(schema);
  }
  const { def } = (schema as z.core.$ZodTypes | undefined)?._zod ?? {};
  return def?.type === "object" ? Object.keys(def.shape) : [];
}

/** Without defaults and transforms. */
function bare(schema: z.core.$ZodType): z.core.$ZodType {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === "pipe") return bare(def.in);
  return def.type === "default" || def.type === "prefault" || def.type === "optional" || def.type === "nullable" ? bare(def.innerType) : schema;
}
