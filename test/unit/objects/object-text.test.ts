/** The places of an object's text that may be rewritten, in every quoting mode; and what it names. */
import { expect, test } from "vitest";
import type { DatabaseObject } from "../../../src/shared/objects/database-object.js";
import { readObjectText, withReplacements } from "../../../src/shared/objects/object-text.js";
import { sameObject } from "../../../src/shared/objects/same-object.js";

function object(kind: DatabaseObject["kind"], text: string, change: Partial<DatabaseObject> = {}): DatabaseObject {
  return { kind, schema: "shop", name: "o", text, table: null, sqlMode: "", characterSet: "utf8mb4", collation: "utf8mb4_bin", databaseCollation: null, timeZone: null, ...change };
}

const at = (text: string, place: { start: number; end: number } | null) => (place === null ? null : text.slice(place.start, place.end));

test.each([
  ["CREATE DEFINER=`a``b`@`%` PROCEDURE `o`() SELECT 1", "", { user: "a`b", host: "%" }, "DEFINER=`a``b`@`%`"],
  ['CREATE DEFINER="app"@"10.0.0.1" PROCEDURE "o"() SELECT "DEFINER=x"', "ANSI_QUOTES", { user: "app", host: "10.0.0.1" }, 'DEFINER="app"@"10.0.0.1"'],
  ["CREATE DEFINER='app'@'h' PROCEDURE `o`() SELECT 1", "", { user: "app", host: "h" }, "DEFINER='app'@'h'"],
  ["CREATE DEFINER=`role` PROCEDURE `o`() SELECT 1", "", { user: "role", host: null }, "DEFINER=`role`"],
  ["CREATE PROCEDURE `o`() /* DEFINER=`x`@`y` */ SELECT 1", "", null, null],
])("the definer of %s", (text, sqlMode, definer, clause) => {
  const read = readObjectText(object("procedure", text, { sqlMode }));
  expect(read.definer).toEqual(definer);
  expect(at(text, read.definerPlace)).toBe(clause);
});

test("a trigger's table, also with its schema; names of the body only", () => {
  for (const table of ["`t`", "t", "shop . `t`"]) {
    const text = `CREATE DEFINER=\`r\`@\`%\` TRIGGER \`on\` BEFORE INSERT ON ${table} FOR EACH ROW INSERT INTO other.log VALUES (NEW.id)`;
    const read = readObjectText(object("trigger", text));
    expect(at(text, read.tablePlace)).toBe(table);
    expect([...read.qualifiers]).toEqual(["other", "new"]);
    expect(read.names.has("shop")).toBe(false);
  }
});

test("an event's ENABLE is that of the head", () => {
  const text = "CREATE DEFINER=`r`@`%` EVENT `enable` ON SCHEDULE EVERY 1 DAY ON COMPLETION NOT PRESERVE ENABLE COMMENT 'ENABLE DO' DO SET @enable=1";
  const read = readObjectText(object("event", text));
  expect(withReplacements(text, [{ at: read.enablePlace, by: "DISABLE" }])).toBe(text.replace("PRESERVE ENABLE", "PRESERVE DISABLE"));
  const disabled = "CREATE DEFINER=`r`@`%` EVENT `e` ON SCHEDULE EVERY 1 DAY ON COMPLETION NOT PRESERVE DISABLE DO SET @enable=1";
  expect(readObjectText(object("event", disabled)).enablePlace).toBeNull();
});

test("a character whose second byte is a backtick ends no name; a set that cannot be read is refused", () => {
  // 0x83 0x60 is one character of sjis.
  const text = "CREATE DEFINER=`r`@`%` PROCEDURE `\x83\x60`() SELECT shop.x";
  expect(readObjectText(object("procedure", text, { characterSet: "sjis" })).qualifiers.has("shop")).toBe(true);
  expect(() => readObjectText(object("procedure", text, { characterSet: "utf16" }))).toThrow("cannot be read");
});

test("the same object: whatever the definer is when none was asked for, not with other settings", () => {
  const wanted = object("view", "CREATE ALGORITHM=UNDEFINED DEFINER=`a`@`%` SQL SECURITY DEFINER VIEW `v` AS select 1");
  const there = { ...wanted, text: wanted.text.replace("`a`", "`b`"), collation: "utf8mb4_bin" };
  expect(sameObject(there, { object: wanted, table: null, definer: null })).toBe(true);
  expect(sameObject(there, { object: wanted, table: null, definer: { user: "a", host: "%" } })).toBe(false);
  expect(sameObject({ ...there, collation: "utf8mb4_general_ci" }, { object: wanted, table: null, definer: null })).toBe(false);
  expect(sameObject(object("view", "x", { collation: "utf8_bin", sqlMode: "B,A" }), { object: object("view", "x", { collation: "utf8mb3_bin", sqlMode: "A,NO_AUTO_CREATE_USER,B" }), table: null, definer: null })).toBe(true);
});

test("a trigger of another table is another one, whatever its name and text", () => {
  const trigger = { ...object("trigger", "CREATE DEFINER=`a`@`%` TRIGGER `x` BEFORE INSERT ON `t` FOR EACH ROW SET @a = 1"), table: "t" };
  const there = { ...trigger, text: trigger.text.replace("`t`", "`u`"), table: "u" };
  expect(sameObject(there, { object: trigger, table: "u", definer: null })).toBe(true);
  expect(sameObject(there, { object: trigger, table: "t", definer: null })).toBe(false);
});
