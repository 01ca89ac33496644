/**
 * Changes of rows in statement format: which tables they write. Where a statement joins tables, all of them count; a table that is
 * only read in a subquery or in INSERT … SELECT does not.
 */
import type { Statement, TableReference } from "./statement.js";
import type { TokenReader } from "./token-reader.js";

const MODIFIERS = ["LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY", "QUICK", "IGNORE"];

/** From behind INSERT or REPLACE. */
export function readInsert(reader: TokenReader): Statement {
  while (reader.takeOne(...MODIFIERS)) continue;
  reader.take("INTO");
  return { kind: "rows", tables: [reader.table()] };
}

export function readUpdate(reader: TokenReader): Statement {
  while (reader.takeOne(...MODIFIERS)) continue;
  return { kind: "rows", tables: joinedTables(reader, ["SET"]) };
}

/** `DELETE FROM t …`, `DELETE a, b.* FROM refs …`, `DELETE FROM a, b USING refs …`. */
export function readDelete(reader: TokenReader): Statement {
  while (reader.takeOne(...MODIFIERS)) continue;
  // Before FROM stand names or aliases of tables that the list behind it has.
  while (!reader.take("FROM")) reader.skip();
  return { kind: "rows", tables: joinedTables(reader, ["WHERE", "ORDER", "LIMIT", "RETURNING"]) };
}

/** `LOAD DATA … INTO TABLE t`; LOAD INDEX INTO CACHE changes nothing. */
export function readLoad(reader: TokenReader): Statement {
  if (reader.is("INDEX")) return { kind: "none" };
  if (!reader.takeOne("DATA", "XML")) throw reader.unexpected();
  while (!reader.take("INTO", "TABLE")) reader.skip();
  return { kind: "rows", tables: [reader.table()] };
}

/** `WITH name AS (query), … UPDATE | DELETE`. */
export function readWith(reader: TokenReader): Statement {
  reader.take("RECURSIVE");
  do {
    reader.name();
    if (reader.isSymbol("(")) reader.skipParenthesis();
    reader.require("AS");
    reader.skipParenthesis();
  } while (reader.takeSymbol(","));
  if (reader.take("UPDATE")) return readUpdate(reader);
  if (reader.take("DELETE")) return readDelete(reader);
  throw reader.unexpected();
}

/** The names where a table may stand in a list of joined tables, up to one of these words; parentheses may hold joins too. */
function joinedTables(reader: TokenReader, endings: string[]): TableReference[] {
  const tables: TableReference[] = [];
  let expectTable = true;
  for (;;) {
    if (reader.atEnd || endings.some((word) => reader.is(word))) return tables;
    if (reader.isSymbol("(")) {
      const second = reader.peek(1);
      // A subquery or a condition is passed over; a parenthesis in a table's place holds joined tables.
      if (!expectTable || (second.kind === "word" && ["SELECT", "WITH", "VALUES", "TABLE"].includes(second.text))) {
        reader.skipParenthesis();
        expectTable = false;
      } else reader.next();
      continue;
    }
    if (expectTable && reader.takeOne("LATERAL", "ONLY")) continue;
    if (expectTable && (reader.peek().kind === "name" || reader.peek().kind === "word")) {
      tables.push(reader.table());
      expectTable = false;
      continue;
    }
    const token = reader.skip();
    if (token.kind === "symbol" && token.text === ",") expectTable = true;
    else if (token.kind === "word" && (token.text === "JOIN" || token.text === "STRAIGHT_JOIN" || token.text === "USING")) expectTable = !(token.text === "USING" && reader.isSymbol("("));
  }
}
