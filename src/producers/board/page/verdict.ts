/**
 * Whether the application may be moved to the target now, and why not: the one question of whoever looks at the page. Every
 * check stands for itself, so that all reasons are there at once. Pure functions.
 */
import { DEFAULT_MAX_LAG } from "../../../shared/contracts/cutover.js";
import type { DiffReport } from "../../../shared/contracts/diff.js";
import type { MigrationStatus, Phase } from "../../../shared/contracts/status.js";
import { proofOf } from "../../../shared/diff-proof.js";

export interface VerdictCheck {
  name: "phase" | "lag" | "trouble" | "diff";
  ok: boolean;
  text: string;
}

export interface Verdict {
  safe: boolean;
  checks: VerdictCheck[];
}

/** The target may be this far behind (seconds), as for a cut-over: what is left is applied in the moment in which the writers stop. */
const LAG_LIMIT = DEFAULT_MAX_LAG / 1_000;

/** @param diff the newest completed comparison; null when there is none */
export function verdictOf(status: MigrationStatus, diff: DiffReport | null, now: number): Verdict {
  const checks = [phaseCheck(status), lagCheck(status), troubleCheck(status), diffCheck(status, diff, now)];
  return { safe: checks.every((check) => check.ok), checks };
}

const PHASE_TEXTS: Record<Phase, string> = {
  planning: "The copy has not begun.", copying: "The copy is not finished.", "catching-up": "The target has not caught up with the source yet.", streaming: "The target follows the source.",
  completed: "The rows were copied once; later changes of the source are not followed.", paused: "The migration is paused: changes of the source wait.",
  stopped: "The migration was stopped: changes of the source are not followed any more.", failed: "The migration failed: changes of the source are not followed.",
};

function phaseCheck({ phase }: MigrationStatus): VerdictCheck {
  return { name: "phase", ok: phase === "streaming", text: PHASE_TEXTS[phase] };
}

function lagCheck({ lagSeconds }: MigrationStatus): VerdictCheck {
  if (lagSeconds === null) return { name: "lag", ok: false, text: "How far the target is behind is not known." };
  return { name: "lag", ok: lagSeconds <= LAG_LIMIT, text: lagSeconds === 0 ? "The target has everything that the source has." : `The target is ${age(lagSeconds * 1_000)} behind.` };
}

function troubleCheck({ error, stuck }: MigrationStatus): VerdictCheck {
  if (error !== null) return { name: "trouble", ok: false, text: `There is an error: ${error.code}.` };
  return stuck === null ? { name: "trouble", ok: true, text: "No error." } : { name: "trouble", ok: false, text: "Nothing moves, though work is due." };
}

function diffCheck(status: MigrationStatus, diff: DiffReport | null, now: number): VerdictCheck {
  const failed = (text: string): VerdictCheck => ({ name: "diff", ok: false, text });
  if (diff?.completedAt == null) return failed("Both sides have not been compared yet.");
  const proof = proofOf(diff, status.tables.map((t) => t.source), now);
  const ended = age(proof.age);
  const { differences, inconclusive: changing, tablesLeft: left } = proof;
  if (differences > 0) return failed(`The comparison of ${ended} ago found ${count(differences)} different ${differences === 1 ? "row" : "rows"}.`);
  if (changing > 0) return failed(`The comparison of ${ended} ago could not tell of ${count(changing)} ${changing === 1 ? "row that" : "rows that"} kept changing.`);
  if (left > 0) return failed(`The comparison of ${ended} ago left out ${count(left)} of ${count(status.tables.length)} tables.`);
  if (proof.limited) return failed(`The comparison of ${ended} ago looked at a part of the rows only.`);
  if (proof.isOld) return failed(`The latest comparison is ${ended} old.`);
  return { name: "diff", ok: true, text: `Compared ${ended} ago: ${count(diff.tables.reduce((rows, t) => rows + t.rowsCompared, 0))} rows, all equal.` };
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}

function age(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds / 1_000);
  if (seconds < 60) return `${seconds < 10 ? Math.round(seconds * 10) / 10 : Math.round(seconds)} s`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} days`;
}
