/** What the shells are told, and the bash script in a real bash. */
import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { completionScript } from "../../../../src/producers/cli/completion/scripts.js";
import { cli } from "./fake-terminal.js";

const offered = async (...words: string[]) => (await cli(["complete-line", "--", ...words])).stdout.split("\n").filter((line) => line !== "").map((line) => line.split("\t")[0]);

describe("offers", () => {
  test("commands, without the hidden one", async () => {
    expect(await offered("")).toEqual(expect.arrayContaining(["check", "start", "status", "diff", "worker", "completion"]));
    expect(await offered("comp")).toEqual(["completion"]);
  });
  test("a command's commands", async () => expect(await offered("diff", "s")).toEqual(["start", "show", "stop", "schedule", "schedules"]));
  test("its options, each once", async () => {
    expect(await offered("wait", "shop", "--t")).toEqual(["--timeout"]);
    expect(await offered("wait", "shop", "--timeout", "5s", "--t")).toEqual([]);
  });
  test("an option's values", async () => expect(await offered("wait", "shop", "--for", "c")).toEqual(["copied", "caught-up"]));
  test("an argument's values", async () => expect(await offered("completion", "")).toEqual(["bash", "zsh", "fish"]));
  test("nothing where a file belongs, and no ids without a server", async () => {
    expect(await offered("check", "sh")).toEqual([]);
    expect(await offered("status", "")).toEqual([]);
  });
});

test("descriptions come behind a tab", async () => expect((await cli(["complete-line", "--", "sta"])).stdout).toContain("status\tshow one migration, or all\n"));

test("bash takes the words, and not their descriptions", () => {
  const script = `drover() { [ "$*" = "complete-line -- diff st" ] && printf 'start\\tstart a comparison\\nstop\\tstop one\\n'; }
${completionScript("bash")}
COMP_WORDS=(drover diff st); COMP_CWORD=2; _drover; printf '%s|' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync("bash", ["-c", script], { encoding: "utf8" });
  expect({ stdout, stderr }).toEqual({ stdout: "start|stop|", stderr: "" });
});

test("an unknown shell is a usage error", async () => expect(await cli(["completion", "csh"])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("bash, zsh, fish") }));
