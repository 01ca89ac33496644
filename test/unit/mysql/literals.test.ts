/** What of a value may reach a statement. */
import { expect, test } from "vitest";
import { bytesLiteral, textLiteral } from "../../../src/shared/mysql/bytes.js";
import { id } from "../../../src/shared/state/values.js";

/** As a session sends it. */
const sent = (statement: string) => Buffer.from(statement, "latin1").toString("latin1");
const BUG: unknown = expect.objectContaining({ code: "BUG" });

test("every byte is quoted", () => {
  for (let byte = 0; byte < 256; byte++) {
    const literal = sent(bytesLiteral(String.fromCharCode(byte)));
    expect(literal).toMatch(/^'(?:[^'\\]|\\.)*'$/s);
  }
});

test("a character that would be cut to a byte is no part of a literal: U+0127 would become a quote", () => {
  for (const character of ["\u0127", "\u015c", "\u0100", "\u2127", "\ud83d\ude00"]) {
    expect(() => bytesLiteral(`x${character}x`)).toThrow(BUG);
    expect(() => id(character)).toThrow(BUG);
    expect(sent(textLiteral(character))).toMatch(/^_utf8mb4'[^'\\]+'$/);
  }
});

test("an id is printable ASCII", () => {
  expect(id("shop-20260101_x")).toBe("'shop-20260101_x'");
  for (const wrong of ["\0", "a\n", "\x7f", "\xa0", "\xff"]) expect(() => id(wrong)).toThrow(BUG);
});
