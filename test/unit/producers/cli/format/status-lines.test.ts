import { describe, expect, test } from "vitest";
import { statusLines, statusTable } from "../../../../../src/producers/cli/format/status-lines.js";
import { status, tableProgress } from "../../fixtures.js";

const plain = (_style: unknown, text: string) => text;

test("a copy in progress: rows, share, rate, time left, backlog, a line per table", () => {
  const lines = statusLines(status({ tables: [tableProgress(), tableProgress({ source: "shop.items", target: "crm.items", phase: "copied", rowsCopied: 5, rowsEstimated: 5, chunksDone: 1, chunksTotal: 1 })] }), plain);
  expect(lines[0]).toBe("shop  copying  ·  120,005 of about 500,005 rows (24 %)  ·  41.0k/s  ·  9.0 s left  ·  backlog 3 batches, 117.2 KiB");
  expect(lines[1]).toMatch(/^ {2}shop\.orders +█+.?░+ +24 % +120,000 +12\/50 chunks +copying$/);
  expect(lines[2]).toMatch(/^ {2}shop\.items → crm\.items +█+ +100 % +5 +1\/1 chunks$/);
});

test("an error and a standstill are told with what to do", () => {
  const error = { code: "BINLOG_PURGED", errno: 1236, sqlState: null, message: "SRC: purged", at: "2026-12-01T00:00:00.000Z", retries: 2 };
  expect(statusLines(status({ phase: "failed", error }), plain).join("\n")).toContain("remove the cause, then `drover resume shop`");
  const lines = statusLines(status({ error, stuck: { since: "2026-12-01T00:00:00.000Z", reason: "no worker" } }), plain).join("\n");
  expect(lines).toContain("SRC: purged [BINLOG_PURGED] at 2026-12-01T00:00:00.000Z, tried again (2 so far)");
  expect(lines).toContain("nothing has moved since 2026-12-01T00:00:00.000Z: no worker");
});

test("a thousand tables: the unfinished ones, and how many more", () => {
  const tables = Array.from({ length: 1000 }, (_, i) => tableProgress({ source: `s.t${i}`, target: `s.t${i}`, phase: i < 990 ? "copied" : "copying" }));
  const lines = statusLines(status({ tables }), plain);
  expect(lines).toHaveLength(32);
  expect(lines[1]).toContain("s.t990");
  expect(lines.at(-1)).toContain("970 more tables");
  const low = statusLines(status({ tables }), plain, { width: 80, height: 10 });
  expect(low).toHaveLength(9);
  expect(low.at(-1)).toContain("994 more tables");
});

describe("a narrow terminal", () => {
  const one = status({ tables: [tableProgress(), tableProgress({ source: "shop.a_table_with_a_long_name_indeed", target: "shop.a_table_with_a_long_name_indeed" })] });
  test.each([200, 100, 80, 60, 50, 40, 30, 24])("of %i columns: no line is wider, and the share stays", (width) => {
    const lines = statusLines(one, plain, { width, height: 24 });
    for (const line of lines.filter((text) => /chunks|%/.test(text))) expect(line.length).toBeLessThanOrEqual(Math.max(width, 47));
    for (const line of lines.slice(-2)) {
      expect(line.length).toBeLessThanOrEqual(width);
      expect(line).toContain("24 %");
    }
  });
});

test("one batch is no batches", () => {
  expect(statusLines(status({ backlog: { batches: 1, bytes: 10 } }), plain).join("\n")).toContain("backlog 1 batch, 10 B");
});

describe("all migrations", () => {
  test("one line each", () => {
    const lines = statusTable([status(), status({ id: "crm", phase: "streaming", lagSeconds: null })], plain);
    expect(lines).toHaveLength(3);
    expect(lines[1]).toMatch(/^shop +copying +1 +120,000 +24 % +0\.4 s +117\.2 KiB/);
    expect(lines[2]).toMatch(/^crm +streaming .* – /);
  });
  test("a follow alone has copied nothing, and says no share of it", () => {
    const followed = status({ phase: "streaming", tables: [tableProgress({ phase: "copied", rowsCopied: 0, rowsEstimated: 0, chunksDone: 0, chunksTotal: 0 })] });
    expect(statusTable([followed], plain)[1]).toMatch(/^shop +streaming +1 +0 +– /);
    const lines = statusLines(followed, plain).join("\n");
    expect(lines).not.toMatch(/100 %|0\/0|rows copied/);
  });
  test("a paused one says what goes on", () => expect(statusLines(status({ phase: "paused" }), plain).join("\n")).toContain("`drover resume shop` goes on"));
  test("none", () => expect(statusTable([], plain)).toEqual(["no migrations"]));
});
