import { describe, expect, test } from "vitest";
import { CONFIG_VARIABLE, SETTINGS } from "../../../../src/shared/settings.js";
import { cli } from "./fake-terminal.js";

const COMMANDS = [
  ["init"], ["grants"], ["completion"], ["diff"], ["check"], ["start"], ["status"], ["wait"], ["pause"], ["resume"], ["stop"], ["remove"], ["worker"], ["board"],
  ["diff", "start"], ["diff", "show"], ["diff", "list"], ["diff", "stop"], ["diff", "resume"], ["diff", "delete"], ["diff", "repair"],
];

describe("help", () => {
  test.each(COMMANDS.map((command) => [command.join(" "), command]))("%s has one with an example", async (name, command) => {
    const { exitCode, stdout, stderr } = await cli([...(command as string[]), "--help"]);
    expect(exitCode).toBe(0);
    expect(stderr).toBe("");
    expect(stdout).toContain("Example");
    expect(stdout).toContain(`drover ${name as string}`);
  });
  test("the program's own names the settings and the exit codes", async () => {
    const { exitCode, stdout } = await cli(["--help"]);
    expect(exitCode).toBe(0);
    for (const { variable } of [...Object.values(SETTINGS), CONFIG_VARIABLE]) expect(stdout).toContain(variable);
    expect(stdout).toContain("Exit codes");
  });
  test("--version", async () => expect(await cli(["--version"])).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) }));
});

describe("usage errors end with 2 and say what is wrong on stderr", () => {
  test.each([
    ["no command", [], "Usage: drover"],
    ["an unknown command", ["move"], "unknown command 'move'"],
    ["an unknown option", ["status", "--watsch"], "unknown option '--watsch'"],
    ["a missing argument", ["start"], "missing required argument 'spec'"],
    ["one argument too many", ["pause", "a", "b"], "too many arguments"],
    ["a missing option", ["wait", "shop"], "required option '--for <phase>'"],
    ["an unknown phase", ["wait", "shop", "--for", "done"], "Allowed choices are copied, streaming, caught-up, stopped"],
    ["no duration", ["wait", "shop", "--for", "copied", "--timeout", "soon"], "Expected a duration"],
    ["an unknown queue", ["worker", "--queues", "copy,cpoy"], '"cpoy" is none of'],
  ])("%s", async (_name, args, message) => {
    const { exitCode, stdout, stderr } = await cli(args);
    expect(exitCode).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("    at ");
  });
});

describe("what was meant", () => {
  test.each([
    ["a command", ["statsu"], "Did you mean status?"],
    ["a command of diff", ["diff", "strat"], "Did you mean start?"],
    ["an option", ["status", "--wacth"], "Did you mean --watch?"],
  ])("%s", async (_name, args, suggestion) => expect((await cli(args)).stderr).toContain(suggestion));
});

test("a usage error with --json is the one document on stdout", async () => {
  const { exitCode, stdout, stderr } = await cli(["status", "--wacth", "--json"]);
  expect(exitCode).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: "USAGE_INVALID", message: "unknown option '--wacth'", cure: expect.stringContaining("Did you mean --watch?") } });
  expect(stderr).toContain("unknown option '--wacth'");
});

describe("grants", () => {
  test("without a spec: the statements with a place to fill in, and a note that says so", async () => {
    const { stdout, stderr } = await cli(["grants"]);
    expect(stdout).toContain("CREATE USER 'drover'@'%' IDENTIFIED BY <password>;");
    expect(stdout).toContain("GRANT SELECT ON `your\\_schema`.* TO 'drover'@'%';");
    expect(stderr).toContain("--schema");
  });
  test("one side, an account, schemas", async () => {
    const { stdout } = await cli(["grants", "--source", "--user", "mover@10.0.0.%", "--schema", "a,b", "--json"]);
    expect(JSON.parse(stdout)).toEqual({
      source: ["CREATE USER 'mover'@'10.0.0.%' IDENTIFIED BY <password>;", "GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO 'mover'@'10.0.0.%';", "GRANT SELECT ON `a`.* TO 'mover'@'10.0.0.%';", "GRANT SELECT ON `b`.* TO 'mover'@'10.0.0.%';"],
    });
  });
  test("names are literal under partial_revokes", async () => expect((await cli(["grants", "--target", "--schema", "a_b", "--partial-revokes"])).stdout).toContain("`a_b`.*"));
  test("for a cut-over, and for the way back", async () => {
    const printed = async (...args: string[]) => JSON.parse((await cli(["grants", "--schema", "a_b", "--json", ...args])).stdout) as { source: string[]; target: string[] };
    const plain = await printed();
    const maria = await printed("--mariadb");
    const there = await printed("--cutover");
    expect(there.source).toEqual([...plain.source, "GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO 'drover'@'%';"]);
    expect(there.target).toEqual([...plain.target, "GRANT PROCESS ON *.* TO 'drover'@'%';", "GRANT TRIGGER, EVENT ON `a\\_b`.* TO 'drover'@'%';"]);
    const back = await printed("--cutover", "--reverse", "--mariadb");
    expect(back.source.slice(maria.source.length)).toEqual([
      "GRANT READ_ONLY ADMIN, PROCESS ON *.* TO 'drover'@'%';",
      "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, REFERENCES, TRIGGER, EVENT ON `a\\_b`.* TO 'drover'@'%';",
      "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON `drover`.* TO 'drover'@'%';",
    ]);
    expect(back.target).toContain("GRANT READ_ONLY ADMIN, PROCESS, REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO 'drover'@'%';");
  });
  test("ask no server, so a connection that is wrong does not matter", async () =>
    expect(await cli(["grants", "--schema", "a"], { environment: { DROVER_CONNECTION_SRC: "nonsense" } })).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("GRANT") }));
  test("an account that would be SQL is none", async () => expect(await cli(["grants", "--user", "a'; DROP USER x; --"])).toMatchObject({ exitCode: 2, stdout: "" }));
});

describe("a wrong spec", () => {
  const spec = JSON.stringify({ id: "Shop", source: "SRC", target: "DST", tabels: [], tables: [{ schema: "shop", colour: 1 }], options: { chunkRow: 5 } });

  test("start names every problem with its path, and ends with 2", async () => {
    const { exitCode, stdout, stderr } = await cli(["start", "-"], { stdin: spec });
    expect(exitCode).toBe(2);
    expect(stdout).toBe("");
    for (const part of ["tabels", "tables.0.colour", "options.chunkRow", '"id"', "[SPEC_INVALID]"]) expect(stderr).toContain(part);
  });
  test("check prints them as its result", async () => {
    const { exitCode, stdout } = await cli(["check", "-", "--json"], { stdin: spec });
    expect(exitCode).toBe(2);
    const { ok, problems } = JSON.parse(stdout) as { ok: boolean; problems: { code: string; cure: string; severity: string }[] };
    expect(ok).toBe(false);
    expect(problems.map((p) => p.code)).toEqual(expect.arrayContaining(["tabels", "tables.0.colour", "options.chunkRow", "id"]));
    for (const problem of problems) expect(problem).toMatchObject({ severity: "error", cure: expect.stringMatching(/./) });
  });
  test("what is meant is said, in words and not in zod's", async () => {
    const wrong = { id: 5, source: "SRC", tables: [{ schema: "shop", exlude: [], targetSchema: 3 }, "crm"], options: { chunkrows: 5, copyConcurrency: "four", existingTarget: "drop" } };
    const { stderr } = await cli(["start", "-"], { stdin: JSON.stringify(wrong) });
    for (const part of ['"id" must be a text, is a number', '"target" is missing', 'did you mean "exclude"?', '"tables.0.targetSchema" must be a text, is a number', '"tables.1" must be an object with keys, is a text', 'did you mean "chunkRows"?', '"options.copyConcurrency" must be a number, is a text', '"options.existingTarget" must be one of fail, resume, replace'])
      expect(stderr).toContain(part);
    expect(stderr).not.toContain("Invalid");
    expect((await cli(["start", "-"], { stdin: "[]" })).stderr).toContain("the migration spec must be an object with keys, is a list");
  });
  test("no file, and no YAML", async () => {
    expect(await cli(["start", "/nonexistent/spec.yaml"])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("/nonexistent/spec.yaml cannot be read") });
    expect(await cli(["start", "-"], { stdin: "a: [1" })).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("stdin is neither YAML nor JSON") });
  });
  test("with --json the error is the one document on stdout", async () => {
    const { stdout } = await cli(["start", "-", "--json"], { stdin: "id: 5" });
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "SPEC_INVALID", problems: expect.arrayContaining([expect.objectContaining({ code: "id" })]) } });
  });
});

test("without a connection there is nothing to look at, and a wrong id is none", async () => {
  expect(await cli(["status"])).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringContaining("DROVER_CONNECTION_<NAME>") });
  expect(await cli(["status", "Größe"])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('"Größe" is no migration id') });
});

test("wrong settings end with 2 and never show a password", async () => {
  const { exitCode, stderr } = await cli(["status"], { environment: { DROVER_CONNECTION_SRC: "postgres://user:s3cret@host/" } });
  expect(exitCode).toBe(2);
  expect(stderr).toContain("connection SRC");
  expect(stderr).not.toContain("s3cret");
});

test("check tells everything at once, wrong settings and a wrong spec", async () => {
  const { exitCode, stdout, stderr } = await cli(["check", "-", "--json"], {
    stdin: JSON.stringify({ id: "Shop", source: "SRC", target: "DST", tables: [{ schema: "s" }] }),
    environment: { DROVER_CONNECTION_SRC: "mysql://u:s3/cret@h:1/", DROVER_CONNECTION_DST: "u:s3cret@host:3306", DROVER_REDIS_URL: "localhost", DROVER_WORKER_PORT: "x" },
  });
  expect(exitCode).toBe(2);
  expect(stdout + stderr).not.toMatch(/s3/);
  const { problems } = JSON.parse(stdout) as { problems: { message: string; cure: string }[] };
  expect(problems.map((problem) => problem.message)).toEqual([
    expect.stringContaining("DROVER_REDIS_URL"), expect.stringContaining("DROVER_WORKER_PORT"), "connection SRC is not a URL that can be read", "connection DST does not begin with mysql://", expect.stringContaining('"id"'),
  ]);
  for (const problem of problems) expect(problem.cure).not.toBe("");
  expect(problems[2]?.cure).toContain("/ is %2F");
});

test("a Redis that is not there is said in a bounded time", async () => {
  const { exitCode, stderr } = await cli(["start", "-"], {
    stdin: JSON.stringify({ id: "a", source: "SRC", target: "DST", tables: [{ schema: "s" }] }),
    environment: { DROVER_REDIS_URL: "redis://:s3cret@127.0.0.1:1", DROVER_CONNECTION_SRC: "mysql://u:p@127.0.0.1:1/", DROVER_CONNECTION_DST: "mysql://u:p@127.0.0.1:1/" },
  });
  expect(exitCode).toBe(2);
  expect(stderr).not.toContain("s3cret");
});
