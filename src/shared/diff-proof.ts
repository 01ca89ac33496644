/** What a completed diff says of the whole migration: for everybody who asks whether the application may move. Pure. */
import type { DiffReport } from "./contracts/diff.js";

/** A diff that is older says little of now; milliseconds. */
const DIFF_LIFE = 24 * 3_600_000;

export interface DiffProof {
  /** Rows that differ. */
  differences: number;
  /** Rows that kept changing while they were compared. */
  inconclusive: number;
  /** Tables of the migration that it left out. */
  tablesLeft: number;
  /** It looked at a part of the rows only. */
  limited: boolean;
  /** milliseconds */
  age: number;
  isOld: boolean;
}

/** @param tables all tables of the migration, `schema.table` on the source */
export function proofOf(diff: DiffReport, tables: readonly string[], now: number): DiffProof {
  const compared = new Set(diff.tables.map((table) => table.source));
  const age = now - Date.parse(diff.completedAt ?? diff.startedAt);
  return {
    differences: sum(diff, (t) => t.mismatched + t.missingOnTarget + t.extraOnTarget), inconclusive: sum(diff, (t) => t.inconclusive),
    tablesLeft: tables.filter((table) => !compared.has(table)).length, limited: diff.limited, age, isOld: age > DIFF_LIFE,
  };
}

function sum(diff: DiffReport, figure: (table: DiffReport["tables"][number]) => number): number {
  return diff.tables.reduce((total, table) => total + figure(table), 0);
}
