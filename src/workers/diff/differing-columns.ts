/** Which columns of differing rows differ. The servers send a hash per column, so values stay where they are and wide rows cost nothing. */
import { columnType } from "../../shared/columns/column-types.js";
import { copiedColumns, type ColumnDefinition, type TableDefinition } from "../../shared/columns/table-definition.js";
import { rowCells } from "../../shared/columns/text-row.js";
import { identifier, sql, type ByteSql } from "../../shared/mysql/bytes.js";
import { fromKeys, keyList } from "./row-hashes.js";
import type { SideName, Sides } from "./sides.js";
import type { Subject } from "./subject.js";

/** Keys per statement: the rows may be wide, and each value is hashed. */
const KEYS = 50;

/** A row of the source and the row of the target that holds its key: the same key, unless they differ in bytes that the collation takes for equal. */
export interface RowPair {
  source: string;
  target: string;
}

/** The names of the differing columns, pair by pair; none where a row changed or went meanwhile. */
export async function differingColumns(sides: Sides, subject: Subject, pairs: readonly RowPair[]): Promise<string[][]> {
  const columns = copiedColumns(subject.source);
  const found: string[][] = [];
  for (let i = 0; i < pairs.length; i += KEYS) {
    const some = pairs.slice(i, i + KEYS);
    const [sources, targets] = await sides.both((side) => columnHashes(sides, side, subject, some.map((pair) => pair[side]), columns));
    for (const pair of some) {
      const source = sources.get(pair.source);
      const target = targets.get(pair.target);
      found.push(source && target ? columns.filter((_, c) => source[c] !== target[c]).map((column) => column.name) : []);
    }
  }
  return found;
}

async function columnHashes(sides: Sides, side: SideName, subject: Subject, keys: readonly string[], columns: readonly ColumnDefinition[]): Promise<Map<string, (string | null)[]>> {
  const hashes = new Map<string, (string | null)[]>();
  await sides.use(side, async (session) => {
    await session.readRows(columnStatement(subject[side], keys, columns), (buffer, start, end) => {
      const cells = rowCells(buffer, start, end);
      let offset = start;
      for (let i = 0; i < columns.length; i++) offset += (cells[i]?.length ?? 0) + 1;
      hashes.set(buffer.toString("latin1", offset, end), cells.slice(0, columns.length).map((cell) => cell?.toString("latin1") ?? null));
    });
  });
  return hashes;
}

/** A hash per column (NULL for NULL), then the key's cells. */
function columnStatement(definition: TableDefinition, keys: readonly string[], columns: readonly ColumnDefinition[]): ByteSql {
  const hashes = columns.map((column) => sql`SHA2(${columnType(definition, column).hash.value(identifier(column.name))},256)`).join(",") as ByteSql;
  return sql`SELECT ${hashes}, ${keyList(definition)} ${fromKeys(definition, keys, null)}`;
}
