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
