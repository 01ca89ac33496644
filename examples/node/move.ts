/** Starts a migration, waits until it follows the source, and compares both sides. Node's own `fetch` is all that is loaded. */
import { DroverHttpClient, type DiffReport, type MigrationSpecInput } from "drover/client";

const token = process.env["DROVER_API_TOKEN"];
const drover = new DroverHttpClient({ url: process.env["DROVER_API_URL"] ?? "http://127.0.0.1:3000", ...(token === undefined ? {} : { token }) });

export async function move(spec: MigrationSpecInput): Promise<DiffReport> {
  // The same spec again is the same migration, so this may run as often as it likes.
  const { id } = await drover.startMigration(spec, { preflight: true });
  await drover.waitFor(id, "streaming", { onStatus: ({ phase, etaSeconds }) => console.error(phase, etaSeconds) });
  const { diffId } = await drover.startDiff(id, { maxSamples: 5 });
  return await drover.waitForDiff(id, diffId, { timeout: 3_600_000 });
}
