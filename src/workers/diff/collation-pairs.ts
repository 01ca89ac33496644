/**
 * Rows whose keys differ in bytes but are equal in the key's collation (`'a'` and `'A'`): to the servers they are one row.
 * Found one by one, by asking the target for the source's key: only MySQL knows its collations.
 */
import { keyOfTable } from "../../shared/keys/key-columns.js";
import { sql } from "../../shared/mysql/bytes.js";
import type { RowPair } from "./differing-columns.js";
import { fromKeys, keyList } from "./row-hashes.js";
import type { Sides } from "./sides.js";
import type { Subject } from "./subject.js";

/** Types of which two different cells can be equal values. */
const LOOSE_TYPES = new Set(["float", "double", "char", "varchar", "tinytext", "text", "mediumtext", "longtext"]);

/** Pairs each key that is missing on the target with the extra key that the target takes for the same one, if there is one. */
export async function collationPairs(sides: Sides, subject: Subject, missing: readonly string[], extra: ReadonlySet<string>): Promise<RowPair[]> {
  const pairs: RowPair[] = [];
  const key = keyOfTable(subject.target).columns;
  if (missing.length === 0 || extra.size === 0 || !key.some((c) => LOOSE_TYPES.has(c.column.dataType))) return pairs;
  await sides.use("target", async (session) => {
    for (const source of missing) {
      await session.readRows(sql`SELECT ${keyList(subject.target)} ${fromKeys(subject.target, [source], null)}`, (buffer, start, end) => {
        const target = buffer.toString("latin1", start, end);
        if (extra.has(target)) pairs.push({ source, target });
      });
    }
  });
  return pairs;
}
