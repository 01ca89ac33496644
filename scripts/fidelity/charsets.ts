/** Text in every character set that a server has, of what Unicode gives it and of bytes that mean nothing in it. */
import type { Connection, RowDataPacket } from "mysql2/promise";

export interface Charset {
  name: string;
  collation: string;
}

/** Bytes that escape, separate or end something somewhere, as second bytes too. */
const SPECIAL = ["27", "5C", "00", "0A", "0D", "1A", "1D", "1E", "1F", "22", "20", "2020", "612020", "5C4E", "1D4E", "815C", "BF5C27", "D6D0B9FA5C", "83418342", "D83DDE00", "D800", "DC00D800", "0001F600", "00110000", "F09F9880", "EDA080", "C0AF", "E282", "FF", "FE", "F4908080"];
const BLOCK = 128;

/** SQL expressions. Every character of the Basic Multilingual Plane and some beyond it, by blocks; every single byte; bytes that are no characters. */
export function textValues(): string[] {
  const values = ["''", "' '", "'a'", "'a '", "'  a  '", "REPEAT('x', 250)", "REPEAT('x', 251)"];
  for (let byte = 0; byte < 256; byte++) values.push(`X'${byte.toString(16).padStart(2, "0")}'`);
  for (const bytes of SPECIAL) values.push(`X'${bytes}'`);
  for (let at = 0; at < 0x10000; at += BLOCK) if (at < 0xd800 || at >= 0xe000) values.push(unicode(at, BLOCK));
  for (const at of [0x10000, 0x1f600, 0x20000, 0x2a6c0, 0x10ff80]) values.push(unicode(at, BLOCK));
  return values;
}

function unicode(at: number, count: number): string {
  const text = Array.from({ length: count }, (_, i) => String.fromCodePoint(at + i)).join("");
  return `_utf8mb4 X'${Buffer.from(text, "utf8").toString("hex")}'`;
}

/** The character sets of the source that the target has as well, each with a collation that both know; and the others' names. */
export async function commonCharsets(source: Connection, target: Connection): Promise<{ common: Charset[]; missing: string[] }> {
  const [wanted, known] = await Promise.all([collations(source), collations(target)]);
  const common: Charset[] = [];
  const missing: string[] = [];
  for (const [name, names] of wanted) {
    const collation = names.find((one) => known.get(name)?.includes(one));
    if (collation === undefined) missing.push(name);
    else common.push({ name, collation });
  }
  return { common, missing };
}

/** Per character set its collations, the default first. */
async function collations(db: Connection): Promise<Map<string, string[]>> {
  const [rows] = await db.query<RowDataPacket[]>(
    `SELECT s.CHARACTER_SET_NAME AS charset, c.COLLATION_NAME AS collation FROM information_schema.CHARACTER_SETS AS s
     JOIN information_schema.COLLATIONS AS c ON c.CHARACTER_SET_NAME=s.CHARACTER_SET_NAME AND c.COLLATION_NAME IS NOT NULL
     WHERE s.CHARACTER_SET_NAME<>'binary' ORDER BY s.CHARACTER_SET_NAME, c.COLLATION_NAME<>s.DEFAULT_COLLATE_NAME, c.ID`,
  );
  const found = new Map<string, string[]>();
  for (const row of rows) {
    const name = String(row["charset"]).replace(/^utf8$/, "utf8mb3");
    found.set(name, [...(found.get(name) ?? []), String(row["collation"]).replace(/^utf8_/, "utf8mb3_")]);
  }
  return found;
}
