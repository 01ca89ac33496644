import { expect, it } from "vitest";
import { expressionsMayWarn, isAboutExpression } from "../../../src/shared/columns/write-warnings.js";
import { column, index, table } from "./definitions.js";

const generated = table([column("id", "int"), column("a", "varchar(9)"), column("it's", "int", { generated: "stored" })], ["id"]);
const plain = table([column("id", "int")], ["id"]);

it("knows tables with expressions of their own", () => {
  expect(expressionsMayWarn(plain)).toBe(false);
  expect(expressionsMayWarn(generated)).toBe(true);
  expect(expressionsMayWarn({ ...plain, indexes: [index("f", ["id"]), { ...index("g", []), parts: [{ column: null, prefix: null }] }] })).toBe(true);
});

it("tells warnings of expressions from those of cells", () => {
  const about = (code: number, message: string) => isAboutExpression(generated, { code, message });
  expect(about(1292, "Truncated incorrect INTEGER value: 'abc'")).toBe(true);
  expect(about(3751, "Data truncated for functional index 'f' at row 1")).toBe(true);
  expect(about(1264, "Out of range value for column 'it's' at row 12")).toBe(true);
  expect(about(1264, "Out of range value for column 'id' at row 12")).toBe(false);
  expect(about(1366, "Incorrect string value: '\\xFF' for column 'a' at row 1")).toBe(false);
  expect(about(1265, "Data truncated for column 'unknown' at row 1")).toBe(false);
  expect(about(1300, "Invalid utf8mb4 character string: 'FF'")).toBe(false);
  expect(about(1048, "Column 'a' cannot be null")).toBe(false);
});
