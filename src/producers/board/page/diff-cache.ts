/** The diffs that the page and the metrics speak of, asked for now and then: a report costs several queries. */
import type { DiffReport } from "../../../shared/contracts/diff.js";
import type { DroverClient } from "../../client/drover-client.js";
import type { DiffPair } from "./snapshot.js";

/** While one runs, and otherwise; milliseconds. */
const FRESH = { running: 1_000, ended: 4_000 };
const NONE: DiffPair = { latest: null, completed: null };

export class DiffCache {
  private readonly client: DroverClient;
  private readonly known = new Map<string, { at: number; pair: DiffPair }>();

  constructor(client: DroverClient) {
    this.client = client;
  }

  async of(migration: string): Promise<DiffPair> {
    const known = this.known.get(migration);
    const life = known?.pair.latest?.state === "running" || known?.pair.latest?.state === "pending" ? FRESH.running : FRESH.ended;
    if (known !== undefined && Date.now() - known.at < life) return known.pair;
    // A server that does not answer is said elsewhere; an old report is better than none.
    const pair = await this.read(migration).catch(() => known?.pair ?? NONE);
    this.known.set(migration, { at: Date.now(), pair });
    return pair;
  }

  /** Forgets all but these migrations. */
  keep(migrations: readonly string[]): void {
    for (const id of this.known.keys()) if (!migrations.includes(id)) this.known.delete(id);
  }

  private async read(migration: string): Promise<DiffPair> {
    const [latest = null] = await this.client.listDiffs(migration, { limit: 1 });
    const [completed = null] = latest === null || latest.state === "completed" ? [latest] : await this.client.listDiffs(migration, { limit: 1, state: "completed" });
    return { latest: latest !== null && isUnequal(latest) ? await this.client.showDiff(migration, latest.diffId) : latest, completed };
  }
}

function isUnequal(report: DiffReport): boolean {
  return report.hasMismatch || report.tables.some((t) => t.inconclusive > 0);
}
