import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, test } from "vitest";

import { processIdentity } from "../../scripts/servers/identity.js";

test("stays for the life of a process and differs between processes", async () => {
  const mine = processIdentity(process.pid);
  expect(mine).toMatch(/^\w+$/);
  await sleep(20);
  expect(processIdentity(process.pid)).toBe(mine);
  const child = spawn("sleep", ["60"]);
  try {
    expect(processIdentity(child.pid ?? 0)).not.toBe(mine);
  } finally {
    child.kill("SIGKILL");
  }
  await once(child, "exit");
  expect(processIdentity(child.pid ?? 0)).toBeUndefined();
});
