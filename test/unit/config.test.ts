/** Connections from files: what can be wrong with one, each with a name. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadConfig } from "../../src/shared/config.js";

let folder = "";
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), "drover-config-"))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("DROVER_CONNECTION_<NAME>_FILE", () => {
  test("is read, with its last newline left away", () => {
    const path = join(folder, "src");
    writeFileSync(path, "mysql://u:p@db:3307/\n");
    expect(loadConfig({ DROVER_CONNECTION_SRC_FILE: path }).connections.get("SRC")).toMatchObject({ host: "db", port: 3307, user: "u" });
  });
  test("that is missing, is a folder, or may not be read, says which", () => {
    expect(() => loadConfig({ DROVER_CONNECTION_SRC_FILE: join(folder, "none") })).toThrow("no such file (ENOENT)");
    expect(() => loadConfig({ DROVER_CONNECTION_SRC_FILE: folder })).toThrow("it is a folder (EISDIR)");
    const path = join(folder, "locked");
    writeFileSync(path, "mysql://u:s3cret@db/", { mode: 0o600 });
    chmodSync(path, 0);
    // The superuser may read everything.
    if (process.getuid?.() !== 0) expect(() => loadConfig({ DROVER_CONNECTION_SRC_FILE: path })).toThrow("may not read it (EACCES)");
  });
  test("beside the variable itself is an error: which one is right cannot be told", () => {
    const both = { DROVER_CONNECTION_SRC: "mysql://u:s3cret@db/", DROVER_CONNECTION_SRC_FILE: join(folder, "none") };
    expect(() => loadConfig(both)).toThrow("both DROVER_CONNECTION_SRC and DROVER_CONNECTION_SRC_FILE are set");
    expect(() => loadConfig(both)).not.toThrow("s3cret");
    // An empty variable counts as none.
    expect(() => loadConfig({ ...both, DROVER_CONNECTION_SRC: "" })).toThrow("ENOENT");
  });
});

describe("limits of servers", () => {
  test("by variable, over those of the file", () => {
    const path = join(folder, "settings.yaml");
    writeFileSync(path, "limits: {SRC: {connections: 10}, dst: {statements: 3}}");
    expect(loadConfig({ DROVER_CONFIG: path, DROVER_LIMITS_SRC: "connections=40, statements=8" }).limits).toEqual(
      new Map([["SRC", { connections: 40, statements: 8 }], ["DST", { connections: null, statements: 3 }]]),
    );
  });
  test.each(["40", "connections", "connections=0", "connections=4,queries=2", "connections=-1"])("%s is none", (text) => {
    expect(() => loadConfig({ DROVER_LIMITS_SRC: text })).toThrow(`DROVER_LIMITS_SRC is "${text}"`);
  });
});
