/** Diffs of a migration, also while it is written to and altered: none may report a difference that is not there. */
import type { DroverClient } from "../../src/producers/index.js";
import { DroverError } from "../../src/shared/errors.js";
import { insist, untilSo } from "./patience.js";
import type { SeedLog } from "./seed-log.js";

export class Diffs {
  private ids: string[] = [];

  constructor(private readonly client: DroverClient, private readonly migration: string, private readonly log: SeedLog) {}

  async start(): Promise<void> {
    const { diffId } = await insist(() => this.client.startDiff(this.migration, {}, { timeout: 20_000 }));
    this.log.note(`diff ${diffId}`);
    this.ids.push(diffId);
  }

  /** Nothing comes of it before the copy is done. */
  async tryToStart(): Promise<void> {
    await this.start().catch((error: unknown) => {
      if (!(error instanceof DroverError && error.code === "WRONG_PHASE")) throw error;
      this.log.note("no diff: the copy is not done");
    });
  }

  /** They end with the migration. */
  async forget(): Promise<void> {
    this.ids = [];
  }

  /**
   * Waits for those that are not ended.
   * @param settled both sides are equal and stay so: nothing may be left open or fail
   * @returns what is wrong, or null
   */
  async verdict(settled = false): Promise<string | null> {
    const wrong: string[] = [];
    for (const id of this.ids.splice(0)) {
      await untilSo(`diff ${id}`, async () => {
        const { state, progress, tables, attempts } = await this.client.showDiff(this.migration, id);
        return { so: state === "completed" || state === "failed" || state === "stopped", progress: [state, progress, attempts, tables.map((table) => table.rowsCompared)] };
      });
      const { state, hasMismatch, tables, lastError } = await insist(() => this.client.showDiff(this.migration, id));
      const inconclusive = tables.reduce((sum, table) => sum + table.inconclusive, 0);
      this.log.note(`diff ${id}: ${state}, ${inconclusive} inconclusive${lastError === null ? "" : `, ${lastError.message}`}`);
      if (hasMismatch) wrong.push(`both sides are equal, and the diff ${id} ${settled ? "" : "during the writes "}says otherwise: ${JSON.stringify(tables)}`);
      // Tables that were altered or dropped meanwhile may end a diff.
      else if (settled && (state !== "completed" || inconclusive > 0)) wrong.push(`the diff ${id} at the end is ${state}, with ${inconclusive} rows inconclusive: ${lastError?.message ?? ""}`);
    }
    return wrong.length === 0 ? null : wrong.join("; ");
  }
}
