/** The word that was meant. */

/** More changes than this are another word. */
const MAX_CHANGES = 3;

/** The candidate that is most like `word`, upper and lower case apart; undefined when none is much like it. */
export function similarWord(word: string, candidates: readonly string[]): string | undefined {
  const meant = word.toLowerCase();
  let best: { candidate: string; changes: number } | undefined;
  for (const candidate of candidates) {
    const changes = distance(meant, candidate.toLowerCase());
    const isAlike = changes <= MAX_CHANGES && changes / Math.max(meant.length, candidate.length) < 0.5;
    if (isAlike && (best === undefined || changes < best.changes)) best = { candidate, changes };
  }
  return best?.candidate;
}

/** Levenshtein's, with an exchange of neighbours as one change. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const at = (k: number, l: number) => rows[k]?.[l] ?? 0;
      let least = Math.min(at(i - 1, j) + 1, (row[j - 1] ?? 0) + 1, at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, at(i - 2, j - 2) + 1);
      row.push(least);
    }
    rows.push(row);
  }
  return rows[a.length]?.[b.length] ?? 0;
}
