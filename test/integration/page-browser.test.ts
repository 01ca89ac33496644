/** The progress page in a real browser: what a person does there, on a desk and on a phone. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openChromium } from "../../scripts/browser/chromium.js";
import { startBoard } from "../../src/producers/board/start.js";
import { loadConfig } from "../../src/producers/index.js";
import { testContext } from "../support/context.js";
import { createOrders, openClient, openWorker, shopSpec } from "./client-scene.js";

let browser: Browser | undefined;
let reason = "";

beforeAll(async () => {
  browser = await openChromium((line) => console.error(`browser: ${line}`)).catch((error: unknown) => {
    reason = `no Chromium here: ${error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error)}`;
    return undefined;
  });
}, 300_000);

afterAll(() => browser?.close());

/** What the browser complains of: an error of a script, something that the security policy refused. */
function complaints(page: Page): string[] {
  const found: string[] = [];
  page.on("pageerror", (error) => found.push(error.message));
  page.on("console", (message) => message.type() === "error" && found.push(message.text()));
  return found;
}

test("a person watches the copy, pauses and resumes, compares, reads the verdict and what differs, opens the queues", { timeout: 180_000 }, async (t) => {
  if (browser === undefined) return t.skip(reason);
  await using ctx = await testContext();
  await createOrders(ctx, 20_000);
  await using client = openClient(ctx);
  const board = await startBoard({ config: loadConfig({ ...ctx.env, DROVER_LOG_LEVEL: "silent" }), port: 0, host: undefined });
  await using _ = { [Symbol.asyncDispose]: () => board.close() };
  const context = await browser.newContext({ viewport: { width: 1180, height: 860 } });
  const page = await context.newPage();
  const errors = complaints(page);
  page.setDefaultTimeout(30_000);
  const text = (wanted: string | RegExp) => page.getByText(wanted).first().waitFor();
  try {
    await page.goto(board.url);
    await text("No migrations yet");
    // small chunks, one at a time: there is something to see
    await client.startMigration(shopSpec(ctx, { options: { chunkRows: 200, copyConcurrency: 1 } }));
    {
      await using _worker = await openWorker(ctx);
      const card = page.getByRole("article", { name: "shop" });
      await card.waitFor();
      const share = () => card.locator(".copy progress").evaluate((node) => (node as unknown as { position: number }).position);
      await expect.poll(share, { timeout: 30_000 }).toBeGreaterThan(0.05);
      const first = await share();
      await expect.poll(share, { timeout: 30_000 }).toBeGreaterThan(first);
      await text("Not safe to cut over");

      await card.getByRole("button", { name: "Pause" }).press("Enter");
      await card.getByText("Paused.", { exact: true }).waitFor();
      await card.locator(".phase", { hasText: "paused" }).waitFor();
      expect((await client.status("shop")).phase).toBe("paused");
      await card.getByRole("button", { name: "Resume" }).click();
      await card.locator(".phase", { hasText: "streaming" }).waitFor({ timeout: 90_000 });

      await card.getByRole("button", { name: "Compare" }).click();
      await text(/Compared .* ago: 20,000 rows, all equal/);
      await card.getByText("Safe to cut over", { exact: true }).waitFor();
      expect(await card.locator(".plot canvas").count()).toBe(3);
      expect(await page.locator("#announce").textContent()).toContain("safe to cut over");

      await ctx.target.query(`DELETE FROM ${ctx.schema}.orders WHERE id = 4711`);
      await card.getByRole("button", { name: "Compare" }).click();
      await card.getByText("Not safe to cut over", { exact: true }).waitFor();
      await card.getByText(/^Keys of 1/).click();
      await card.getByRole("cell", { name: "id = 4711" }).waitFor();

      const phone = await browser.newContext({ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, colorScheme: "dark", reducedMotion: "reduce" });
      const small = await phone.newPage();
      await small.goto(board.url);
      await small.getByText("Not safe to cut over", { exact: true }).waitFor();
      // nothing is wider than the screen
      expect(await small.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
      await small.getByRole("button", { name: "Stop" }).tap();
      await small.getByRole("button", { name: "Keep it" }).tap();
      expect((await client.status("shop")).phase).toBe("streaming");
      await phone.close();

      await page.getByRole("link", { name: "Queues" }).click();
      await page.getByText("leases on reading a source's binlog").or(page.getByText("tail").first()).first().waitFor();
      expect(errors.filter((line) => !line.includes("fonts.googleapis.com"))).toEqual([]);

      await page.goto(board.url);
      await card.getByRole("button", { name: "Stop" }).click();
      await page.getByRole("button", { name: "Stop it" }).click();
      await card.locator(".phase", { hasText: "stopped" }).waitFor();
    }
  } finally {
    await context.close();
  }
});
