/** Literals for a column: few different ones, so that keys collide, with the type's extremes among them. */
import type { CatalogColumn } from "./catalog.js";
import type { Dice } from "./dice.js";

/** Equal to each other in this collation or that, and with spaces at the end. */
const TEXTS = ["a", "A", "á", "Á", "a ", "b", "B", "ß", "ss", "é", "e", "E", "z", "ae", "æ", "", " ", "%", "_", "'", "\\", "\t", "日本", "😀", "ー", "ナ", "ﾅ"];
const DOCUMENTS = ["{}", "[]", "null", '"text"', '{"a": 1, "b": [1, 2.5, null, true]}', "12345678901234567890", "1.25e10", '{"__proto__": {"x": 1}}', '{"ü": "é😀"}', '[{"a": {"b": {"c": []}}}]', "-0.0", '{"a": "x", "b": ["x", "y"]}', '{"a": "X", "b": ["y", "z"]}', '{"a": "é", "b": ["z"]}'];
const WHOLE: Record<string, number> = { tinyint: 8, smallint: 16, mediumint: 24, int: 32, bigint: 64 };

export function randomLiteral(dice: Dice, column: CatalogColumn): string {
  if (column.nullable && dice.percent(12)) return "NULL";
  const { dataType } = column;
  const bits = WHOLE[dataType];
  if (bits !== undefined) return wholeNumber(dice, bits, column.columnType.includes("unsigned"));
  switch (dataType) {
    case "decimal":
      return dice.percent(4) ? dice.pick(["-9999999.999", "9999999.999", "-0.001", "1e-3"]) : `${dice.percent(30) ? "-" : ""}${dice.below(60)}.${dice.below(100)}`;
    case "float":
    case "double":
      return dice.pick(["0", "-0.0", "1.5", "1e-30", "3.3333333333333335", "0.1", "-7.25e20", String(dice.below(40)), `${dice.below(40)}.${dice.below(1000)}`]);
    case "bit":
      return `b'${dice.below(256).toString(2)}'`;
    case "year":
      return dice.pick(["0", "1901", "2155", String(1990 + dice.below(40))]);
    case "date":
      return dice.pick(["'0000-00-00'", "'9999-12-31'", `'2024-02-${10 + dice.below(19)}'`, `'2023-0${1 + dice.below(9)}-0${1 + dice.below(9)}'`]);
    case "datetime":
      return dice.pick(["'1000-01-01 00:00:00'", "'9999-12-31 23:59:59'", `'2024-03-31 02:${10 + dice.below(50)}:00.${dice.below(1_000_000)}'`]);
    case "timestamp":
      return dice.pick(["'1970-01-02 00:00:01'", "'2038-01-18 03:14:07'", `'2024-06-${10 + dice.below(20)} 12:00:00.${dice.below(1_000_000)}'`]);
    case "time":
      return dice.pick(["'-838:59:59'", "'838:59:59'", "'00:00:00'", `'-00:00:${10 + dice.below(50)}.${dice.below(1_000_000)}'`, `'${10 + dice.below(12)}:00:00'`]);
    case "enum":
      return String(1 + dice.below(column.columnType.split("','").length));
    case "set":
      return String(dice.below(2 ** column.columnType.split("','").length));
    case "json":
      return `'${dice.pick(DOCUMENTS)}'`;
    case "point":
    case "geometry":
      return `ST_GeomFromText('POINT(${dice.below(90)} ${dice.below(90)}.5)', ${dice.pick([0, 4326])})`;
    case "vector":
      return `TO_VECTOR('[${dice.below(9)}, ${dice.below(9)}.5, -1e-3]')`;
    case "binary":
    case "varbinary":
    case "tinyblob":
    case "blob":
    case "mediumblob":
      return bytes(dice, dataType);
    default:
      return text(dice, dataType);
  }
}

function wholeNumber(dice: Dice, bits: number, unsigned: boolean): string {
  if (dice.percent(6)) {
    const width = BigInt(bits);
    const extremes = unsigned ? [0n, 2n ** width - 1n, 2n ** (width - 1n)] : [-(2n ** (width - 1n)), 2n ** (width - 1n) - 1n, -1n];
    return String(dice.pick(extremes));
  }
  return String(dice.below(dice.percent(50) ? 40 : 120));
}

function bytes(dice: Dice, dataType: string): string {
  const long = dataType.endsWith("blob") && dice.percent(5) ? 3000 : 0;
  const hex = `${dice.below(200).toString(16).padStart(2, "0")}${dice.pick(["", "00", "0000", "20", "ff"])}${"ab00".repeat(long / 2)}`;
  return `X'${hex}'`;
}

function text(dice: Dice, dataType: string): string {
  const value = `${dice.pick(TEXTS)}${dice.percent(70) ? dice.below(30) : ""}${dice.percent(10) ? " " : ""}`.replaceAll("\\", "\\\\").replaceAll("'", "''");
  if (dataType.endsWith("text") && dice.percent(5)) return `REPEAT('${value}', ${dice.below(2000)})`;
  return `'${value}'`;
}
