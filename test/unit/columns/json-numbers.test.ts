import { expect, it } from "vitest";
import { hasInexactNumber, jsonLiteral } from "../../../src/shared/columns/json-numbers.js";

const inexact = (text: string) => hasInexactNumber(Buffer.from(` ${text} `), 1, text.length + 1);

it("knows the numbers that come back as they are", () => {
  for (const text of ["1", "-0.0", "0.0", "1.0", "0.1", "[12.5, 100.25]", "0.30000000000000004", "18446744073709551615", "-9223372036854775808", "1e300", "1.5e-7", '"12.50"', '{"1.10": "\\"2.20"}', '"\\\\", 1.5', "true", "[]", "123456789012.34"])
    expect(inexact(text), `${text}`).toBe(false);
});

it("knows those that do not", () => {
  for (const text of ["12.50", "0.00", "[1, 1.10]", '{"a": "b", "c": 2.00}', "18446744073709551616", "-9223372036854775809", "0.1000000000000000055", "123456789012345678901234567890", '["\\\\", 1.50]', "1.00"]) expect(inexact(text), `${text}`).toBe(true);
});

it("sets them by their paths", () => {
  expect(jsonLiteral('{"a": [1.5, {"b\\"c": 2.50}], "": 3.0, "d": "4.40"}')).toBe(`_utf8mb4'{"a": [1.5, {"b\\\\"c": 2.50}], "": 3.0, "d": "4.40"}'`.replace(/^(.*)$/s, `JSON_SET($1,_utf8mb4'$."a"[1]."b\\\\"c"',2.50)`));
  expect(jsonLiteral("12.50")).toBe("JSON_SET(_utf8mb4'12.50',_utf8mb4'$',12.50)");
  expect(jsonLiteral('[[], {}, 1.10, [0, 2.20], {"x": 0.1, "y": 3.30}]')).toBe(
    `JSON_SET(_utf8mb4'[[], {}, 1.10, [0, 2.20], {"x": 0.1, "y": 3.30}]',_utf8mb4'$[2]',1.10,_utf8mb4'$[3][1]',2.20,_utf8mb4'$[4]."y"',3.30)`,
  );
  expect(jsonLiteral("[1.5]")).toBe("_utf8mb4'[1.5]'");
});
