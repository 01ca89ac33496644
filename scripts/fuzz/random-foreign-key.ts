/** A random foreign key: to a table that is there, or to the table itself. */
import { quoted, type CatalogTable } from "./catalog.js";
import type { Dice } from "./dice.js";

export interface ForeignKey {
  /** Declarations of the columns that refer. */
  columns: string[];
  /** `[CONSTRAINT …] FOREIGN KEY …` */
  clause: string;
}

const ACTIONS = ["", "RESTRICT", "NO ACTION", "SET NULL", "SET NULL", "CASCADE", "CASCADE", "CASCADE"];

/**
 * @param names of the columns that refer, as many as are needed are taken
 * @returns null when no table can be referred to
 */
export function foreignKeyTo(dice: Dice, parents: readonly CatalogTable[], names: readonly string[]): ForeignKey | null {
  const usable = parents.filter((table) => table.key.length > 0 && table.key.length <= names.length);
  if (usable.length === 0) return null;
  const parent = dice.pick(usable);
  const own = names.slice(0, parent.key.length);
  const end = dice.percent(25) ? "NOT NULL" : "NULL";
  const columns = parent.key.map((column, i) => `${own[i]} ${column.columnType}${column.charset === null ? "" : ` CHARACTER SET ${column.charset} COLLATE ${column.collation}`} ${end}`);
  return { columns, clause: `${name(dice)}FOREIGN KEY (${own.join(", ")}) REFERENCES ${quoted(parent.name)} (${parent.key.map((column) => quoted(column.name)).join(", ")})${actions(dice)}` };
}

/** Rows that hang on rows of the same table. */
export function foreignKeyToItself(dice: Dice, table: string, key: string, keyType: string): ForeignKey {
  return { columns: [`up ${keyType} NULL`], clause: `${name(dice)}FOREIGN KEY (up) REFERENCES ${table} (${key})${dice.pick(["", " ON DELETE CASCADE", " ON DELETE SET NULL"])}` };
}

/** Without one the server makes a name up from the table's. */
function name(dice: Dice): string {
  return dice.percent(30) ? "" : `CONSTRAINT refers_${dice.below(200)} `;
}

function actions(dice: Dice): string {
  const [onDelete, onUpdate] = [dice.pick(ACTIONS), dice.pick(ACTIONS)];
  return `${onDelete === "" ? "" : ` ON DELETE ${onDelete}`}${onUpdate === "" ? "" : ` ON UPDATE ${onUpdate}`}`;
}
