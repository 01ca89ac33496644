/** `planted`: fifty differences among many rows under writes; all are found and none else, repaired while the writes go on, and then there is none. */
import type { DiffReport } from "../../src/shared/contracts/diff.js";
import { connect } from "./connect.js";
import { countsOf, isClean } from "./counts.js";
import { FULL_NAME, contentOf, fillLedger } from "./ledger.js";
import { ABSENT, makePlants, type Plant } from "./plants.js";
import { MIGRATION, Stage, note } from "./stage.js";
import { Writers } from "./writers.js";

export interface PlantedOptions {
  rows: number;
  rate: number;
  workers: number;
}

export async function provePlanted(options: PlantedOptions): Promise<{ ok: boolean }> {
  const { rows, rate } = options;
  const plants = makePlants(rows);
  await using stage = await Stage.open();
  const source = await connect(stage.source);
  await fillLedger(source, rows, {
    absent: plants.filter((plant) => plant.before === ABSENT).map((plant) => plant.id),
    values: plants.flatMap((plant): [number, string][] => (plant.before === null || plant.before === ABSENT ? [] : [[plant.id, plant.before]])),
  });
  await source.end();
  stage.startWorkers(options.workers);
  const client = stage.client();
  await stage.migrate(client, "copy+follow");
  await plant(stage, plants);
  await using writers = await Writers.start(stage.source, { rows, rate, spare: new Set(plants.map((p) => p.id)) });
  const { diffId } = await client.startDiff(MIGRATION, { maxSamples: 1_000 });
  const found = await client.waitForDiff(MIGRATION, diffId);
  const wrong = wrongFindings(plants, found);
  for (const line of wrong) note(line);
  note(`found: ${JSON.stringify(countsOf(found))}`);
  const repair = await client.repairDiff(MIGRATION, diffId);
  const next = await client.waitForDiff(MIGRATION, (await client.startDiff(MIGRATION)).diffId);
  await writers.stop();
  await client.waitFor(MIGRATION, "caught-up");
  const equal = (await contentOf(stage.source)) === (await contentOf(stage.target));
  const inconclusive = countsOf(found).inconclusive;
  const ok = wrong.length === 0 && repair.state === "completed" && repair.repaired === plants.length && isClean(countsOf(next)) && equal;
  const line = {
    proof: "planted", ok, rows, rate, planted: plants.length, found: plants.length - wrong.length, foundWrong: wrong.length, inconclusive,
    repaired: repair.repaired, repairRefused: repair.refused, repairInconclusive: repair.inconclusive, next: countsOf(next),
    writes: writers.count, writesPerSecond: Math.round(writers.perSecond), equalInTheEnd: equal,
  };
  console.log(JSON.stringify(line));
  return line;
}

async function plant(stage: Stage, plants: readonly Plant[]): Promise<void> {
  const target = await connect(stage.target);
  await target.query("SET time_zone='+00:00'");
  for (const { what, id, statement } of plants) {
    const [result] = await target.query(statement.replace("@", FULL_NAME));
    if ((result as { affectedRows: number }).affectedRows !== 1) throw new Error(`"${what}" of row ${id} changed nothing`);
  }
  await target.end();
}

/** What was not found as it was planted, and what was found beside. */
function wrongFindings(plants: readonly Plant[], report: DiffReport): string[] {
  const name = (kind: string, id: string | undefined, columns: readonly string[]) => `${kind} ${id ?? "?"} ${columns.join()}`;
  const seen = report.tables.flatMap((table) => table.samples).filter((s) => s.kind !== "inconclusive").map((s) => name(s.kind, s.key["id"], s.columns));
  const expected = plants.map((p) => ({ what: p.what, name: name(p.kind, String(p.id), p.columns) }));
  const counts = countsOf(report);
  const total = counts.mismatched + counts.missing + counts.extra;
  return [
    ...expected.filter((e) => !seen.includes(e.name)).map((e) => `not found: ${e.what}: ${e.name}`),
    ...seen.filter((s) => !expected.some((e) => e.name === s)).map((s) => `found beside: ${s}`),
    ...(total === plants.length ? [] : [`counted ${total} differences instead of ${plants.length}`]),
  ];
}
