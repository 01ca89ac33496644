/** Random partitions of a table by its key, and statements on them. */
import { quoted, type CatalogTable } from "./catalog.js";
import type { Dice } from "./dice.js";

/** @param type of the key's first column */
export function partitionBy(dice: Dice, column: string, type: string): string {
  const count = `PARTITIONS ${2 + dice.below(3)}`;
  const byKey = [`PARTITION BY KEY () ${count}`, `PARTITION BY LINEAR KEY (${column}) ${count}`];
  if (/INT/i.test(type)) {
    return dice.pick([
      `PARTITION BY HASH (${column}) ${count}`,
      `PARTITION BY RANGE (${column}) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN (40), PARTITION p2 VALUES LESS THAN MAXVALUE)`,
      `PARTITION BY RANGE (${column}) (PARTITION p0 VALUES LESS THAN (20), PARTITION p1 VALUES LESS THAN (1000))`,
      `PARTITION BY LIST (${column} % 3) (PARTITION p0 VALUES IN (0), PARTITION p1 VALUES IN (1, -1), PARTITION p2 VALUES IN (2, -2))`,
      ...byKey,
    ]);
  }
  if (/CHAR/i.test(type)) return dice.pick([`PARTITION BY RANGE COLUMNS (${column}) (PARTITION p0 VALUES LESS THAN ('b'), PARTITION p1 VALUES LESS THAN (MAXVALUE))`, ...byKey]);
  return dice.pick(byKey);
}

/** The end of an ALTER TABLE. Most of them are refused for most tables. */
export function alterPartitions(dice: Dice, table: CatalogTable, other: CatalogTable): string {
  const one = dice.pick(table.partitions) ?? "p0";
  const all = table.partitions;
  return dice.pick([
    `TRUNCATE PARTITION ${one}`,
    `DROP PARTITION ${one}`,
    "ADD PARTITION PARTITIONS 1",
    `ADD PARTITION (PARTITION p${3 + dice.below(4)} VALUES LESS THAN (${2_000 + dice.below(2_000)}))`,
    "COALESCE PARTITION 1",
    `REORGANIZE PARTITION ${all.slice(0, 2).join(", ") || "p0"} INTO (PARTITION p8 VALUES LESS THAN (15), PARTITION p9 VALUES LESS THAN (40))`,
    `REBUILD PARTITION ${one}`,
    `EXCHANGE PARTITION ${one} WITH TABLE ${quoted(other.name)}${dice.percent(50) ? " WITHOUT VALIDATION" : ""}`,
    "REMOVE PARTITIONING",
  ]);
}
