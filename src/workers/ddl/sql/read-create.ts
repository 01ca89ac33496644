/** CREATE TABLE: its name, what it is like, the tables that it refers to, and whether it comes with rows. */
import type { Statement } from "./statement.js";
import type { TokenReader } from "./token-reader.js";

type Create = Extract<Statement, { kind: "create" }>;

/** From behind CREATE TABLE. */
export function readCreateTable(reader: TokenReader, orReplace: boolean): Create {
  const ifNotExists = reader.take("IF", "NOT", "EXISTS");
  const create: Create = { kind: "create", table: reader.table(), like: null, references: [], filled: false, ifNotExists, orReplace, unsupported: null };
  if (reader.take("LIKE")) {
    create.like = reader.table();
    reader.requireEnd();
    return create;
  }
  if (reader.isSymbol("(") && reader.peek(1).kind === "word" && reader.peek(1).text === "LIKE") {
    reader.next();
    reader.next();
    create.like = reader.table();
    reader.requireSymbol(")");
    reader.requireEnd();
    return create;
  }
  if (reader.isSymbol("(")) readColumns(reader, create);
  readOptions(reader, create);
  return create;
}

/** The parenthesis of columns, keys and constraints; of CREATE TABLE t (SELECT …) it is the query. */
function readColumns(reader: TokenReader, create: Create): void {
  const first = reader.peek(1);
  if (first.kind === "symbol" || (first.kind === "word" && ["SELECT", "WITH", "TABLE", "VALUES"].includes(first.text))) create.filled = true;
  reader.requireSymbol("(");
  for (let depth = 1; depth > 0; ) {
    const behindDot = reader.previous?.kind === "symbol" && reader.previous.text === ".";
    const token = reader.skip();
    if (token.kind === "symbol" && token.text === "(") depth += 1;
    if (token.kind === "symbol" && token.text === ")") depth -= 1;
    if (token.kind === "word" && token.text === "REFERENCES" && !behindDot) create.references.push(reader.table());
  }
}

/** Table options, partitions, and a query at the end. */
function readOptions(reader: TokenReader, create: Create): void {
  for (let depth = 0; depth > 0 || !reader.atEnd; ) {
    // START TRANSACTION is the server's own: rows follow in the same transaction (8.0.21 and later).
    if (depth === 0 && reader.take("START", "TRANSACTION")) {
      create.filled = true;
      return reader.requireEnd();
    }
    if (depth === 0 && reader.is("UNION")) create.unsupported = "UNION";
    // A query may name tables in any way; only that there is one counts.
    if (depth === 0 && (reader.is("SELECT") || reader.is("WITH") || reader.is("VALUES") || reader.is("TABLE") || reader.is("AS"))) {
      create.filled = true;
      return;
    }
    const token = reader.skip();
    if (token.kind === "symbol" && token.text === "(") depth += 1;
    if (token.kind === "symbol" && token.text === ")") depth -= 1;
    if (depth < 0) throw reader.unexpected(token);
  }
}
