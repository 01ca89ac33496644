import { expect, it } from "vitest";
import { exactText } from "../../../src/shared/columns/exact-create.js";

const bytes = (text: string) => Buffer.from(text, "latin1");

it("is UTF-8, and a literal that is none becomes hexadecimal", () => {
  const e = "\xc3\xa9";
  expect(exactText(bytes(`CREATE TABLE \`${e}\` (\`a\` int DEFAULT '${e}')`))).toBe("CREATE TABLE `\u00e9` (`a` int DEFAULT '\u00e9')");
  expect(exactText(bytes(`CREATE TABLE \`${e}\` (\`b\` varchar(9) DEFAULT (concat(_latin1'\xe9\\'\\\\\\n''x',_utf8mb4'${e}')) COMMENT '${e}')`)))
    .toBe("CREATE TABLE `\u00e9` (`b` varchar(9) DEFAULT (concat(_latin1 X'e9275c0a2778',_utf8mb4'\u00e9')) COMMENT '\u00e9')");
  expect(exactText(bytes("(`d` varbinary(4) DEFAULT '\xff\\0',`e` int)"))).toBe("(`d` varbinary(4) DEFAULT X'ff00',`e` int)");
});
