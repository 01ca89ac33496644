/** Differences to be found: what is done to a row of the target behind Drover's back, and what the diff must say of it. */

export interface Plant {
  what: string;
  id: number;
  kind: "mismatched" | "missingOnTarget" | "extraOnTarget";
  columns: readonly string[];
  /** The statement on the target; `@` stands for the table. */
  statement: string;
  /** What the source's row must be like before the copy: an assignment, or that it must not be there. */
  before: string | null;
}

/** For `before`. */
export const ABSENT = "absent";

/** How many of each kind: 50 in all. */
const KINDS: readonly [what: string, count: number, make: (id: number, i: number) => Omit<Plant, "what" | "id">][] = [
  ["a value", 8, (id, i) => changed(id, i % 2 === 0 ? "n" : "v", i % 2 === 0 ? "n=n+1" : "v='other'")],
  ["a missing row", 6, (id) => ({ kind: "missingOnTarget", columns: [], statement: `DELETE FROM @ WHERE id=${id}`, before: null })],
  ["an extra row", 6, (id) => ({ kind: "extraOnTarget", columns: [], statement: `INSERT INTO @ VALUES (${id}, 'extra', 'extra', 1, 1, 1, '{}', NULL)`, before: ABSENT })],
  ["NULL against empty", 6, (id, i) => changed(id, "v", i % 2 === 0 ? "v=NULL" : "v=''", i % 2 === 0 ? "v=''" : "v=NULL")],
  ["a trailing space", 5, (id) => changed(id, "v", "v=CONCAT(v, ' ')")],
  ["case", 5, (id) => changed(id, "c", "c=UPPER(c)")],
  ["one JSON member", 5, (id) => changed(id, "j", "j=JSON_SET(j, '$.m[1]', 'y')")],
  // The values of FLOAT are id + 0.5, of DOUBLE id / 7: the next one that there is.
  ["one float ulp", 5, (id, i) => (i % 2 === 0 ? changed(id, "f", `f=${nextFloat(id + 0.5)}`) : changed(id, "d", `d=${nextDouble(id / 7)}e0`))],
  ["an hour", 4, (id) => changed(id, "t", "t=t + INTERVAL 1 HOUR")],
];

/** Fifty differences spread over the ids 1 to `rows`, the kinds mixed. */
export function makePlants(rows: number): Plant[] {
  const makers = KINDS.flatMap(([what, count, make]) => Array.from({ length: count }, (_, i) => ({ what, i, make })));
  const step = Math.floor(rows / makers.length);
  if (step < 2) throw new Error(`too few rows for ${makers.length} differences`);
  // 7 and the number of plants have no common divisor, so every place is used once.
  return makers.map(({ what, i, make }, number) => {
    const id = Math.ceil(step / 2) + step * ((number * 7) % makers.length);
    return { what, id, ...make(id, i) };
  });
}

function changed(id: number, column: string, assignment: string, before: string | null = null): Omit<Plant, "what" | "id"> {
  return { kind: "mismatched", columns: [column], statement: `UPDATE @ SET ${assignment} WHERE id=${id}`, before };
}

function nextFloat(value: number): number {
  const bits = new Uint32Array(new Float32Array([value]).buffer);
  bits[0] = (bits[0] as number) + 1;
  return new Float32Array(bits.buffer)[0] as number;
}

function nextDouble(value: number): number {
  const bits = new BigUint64Array(new Float64Array([value]).buffer);
  bits[0] = (bits[0] as bigint) + 1n;
  return new Float64Array(bits.buffer)[0] as number;
}
