/**
 * `npm run screenshots`: a migration on real servers, seen through the board, as pictures in docs/screenshots. Everything in them
 * happened; the data is made up.
 */
import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import mysql from "mysql2/promise";
import { pino } from "pino";
import type { Browser, Page } from "playwright-core";
import { startBoard } from "../../src/producers/board/start.js";
import { DroverClient, loadConfig } from "../../src/producers/index.js";
import { runWorker } from "../../src/workers/index.js";
import { openChromium } from "../browser/chromium.js";
import { openServers } from "../servers/index.js";
import { makeShop, writeAllTheTime } from "./shop.js";

const FOLDER = fileURLToPath(new URL("../../docs/screenshots/", import.meta.url));
const DESKTOP = { width: 1180, height: 860 };
const PHONE = { width: 390, height: 844 };

await mkdir(FOLDER, { recursive: true });
await using servers = await openServers({ log: (line) => console.error(line) });
const [source, target, redis] = await Promise.all([servers.mysql({ name: "source" }), servers.mysql({ name: "target" }), servers.redis()]);
const config = loadConfig({ DROVER_REDIS_URL: redis.url, DROVER_CONNECTION_SRC: source.url, DROVER_CONNECTION_DST: target.url, DROVER_LOG_LEVEL: "silent", DROVER_PREFIX: `shots-${randomBytes(3).toString("hex")}` });
await makeShop(source.url);
await using client = new DroverClient({ config });
const board = await startBoard({ config, port: 0, host: "127.0.0.1" });
const browser = await openChromium((line) => console.error(line));
const worker = await runWorker({ config, log: pino({ level: "silent" }), concurrency: 1 });
const writer = writeAllTheTime(source.url);
try {
  await shoot(browser, "empty", DESKTOP, {}, async (page) => await page.getByText("No migrations yet").waitFor());

  await client.startMigration({ id: "shop", source: "SRC", target: "DST", tables: [{ schema: "shop" }], options: { chunkRows: 1_000, copyConcurrency: 1 } });
  await shoot(browser, "copying", DESKTOP, {}, async (page) => await until(async () => (await share(page)) > 0.35, page));
  await client.waitFor("shop", "streaming", { timeout: 180_000 });

  await client.waitForDiff("shop", (await client.startDiff("shop")).diffId, { timeout: 60_000 });
  const settled = async (page: Page) => {
    await page.getByText("Safe to cut over", { exact: true }).waitFor();
    await sleep(25_000);
  };
  await shoot(browser, "streaming", DESKTOP, {}, settled);
  await shoot(browser, "dark", DESKTOP, { colorScheme: "dark" }, async (page) => await page.getByText("Safe to cut over", { exact: true }).waitFor());

  const db = await mysql.createConnection({ uri: target.url, multipleStatements: true });
  await db.query("UPDATE shop.orders SET total = total + 1 WHERE id IN (1007, 2041); DELETE FROM shop.customers WHERE id = 311");
  await db.end();
  await client.waitForDiff("shop", (await client.startDiff("shop")).diffId, { timeout: 60_000 });
  await shoot(browser, "differences-phone", PHONE, { isMobile: true, hasTouch: true }, async (page) => {
    await page.getByText(/found 3 different rows/).waitFor();
    await page.getByText(/^Keys of 3/).click();
    await page.locator(".tables summary").click();
  });
  await shoot(browser, "queues", DESKTOP, {}, async (page) => await page.getByText("control").first().waitFor(), "/queues/queue/tail");
} finally {
  await writer.stop();
  await browser.close();
  await worker.close();
  await board.close();
}

async function shoot(chromium: Browser, name: string, viewport: { width: number; height: number }, options: Record<string, unknown>, ready: (page: Page) => Promise<unknown>, path = "/"): Promise<void> {
  const context = await chromium.newContext({ viewport, deviceScaleFactor: 1, ...options });
  const page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && console.error(`${name}: ${message.text()}`));
  await page.goto(new URL(path, board.url).href);
  await ready(page);
  await page.screenshot({ path: `${FOLDER}${name}.png`, fullPage: name !== "queues" });
  console.log(`${name}.png`);
  await context.close();
}

async function share(page: Page): Promise<number> {
  const bar = page.locator(".copy progress");
  return (await bar.count()) === 0 ? 0 : await bar.evaluate((node) => (node as unknown as { position: number }).position);
}

async function until(done: () => Promise<boolean>, page: Page): Promise<void> {
  for (const deadline = Date.now() + 120_000; !(await done()); await page.waitForTimeout(200)) if (Date.now() > deadline) throw new Error("it took too long");
}
