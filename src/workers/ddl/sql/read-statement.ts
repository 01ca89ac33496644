/**
 * Reads what a statement of the binlog does to tables.
 *
 * This is MySQL's grammar (sql/sql_yacc.yy, with MariaDB's additions) as far as it names tables: the heads of all statements
 * in full, and behind them the clauses that can name a table. Columns, types and expressions are passed over by their
 * tokens, so a type or an option that is newer than this file changes nothing; a head that is not known is an error.
 * docs/ddl.md says why this is no parser of a library.
 */
import { readAlterTable } from "./read-alter.js";
import { readCreateTable } from "./read-create.js";
import { readDelete, readInsert, readLoad, readUpdate, readWith } from "./read-rows.js";
import { Lexer, type LexerOptions, type VersionMark } from "../../../shared/sql/lexer.js";
import type { Statement, TableReference } from "./statement.js";
import { TokenReader, type NameContext } from "./token-reader.js";
import { UnreadableStatement } from "../../../shared/sql/unreadable-statement.js";

export interface ReadStatement {
  statement: Statement;
  /** Marks of version comments, to be taken out before another server runs the statement. */
  marks: VersionMark[];
}

/** @throws UnreadableStatement when it cannot be classified */
export function readStatement(sql: string, options: LexerOptions & NameContext): ReadStatement {
  const lexer = new Lexer(sql, options);
  const reader = new TokenReader(sql, lexer, options);
  const statement = read(reader);
  // What another server is to run is read to its end, for the marks.
  if (statement.kind === "alter" || (statement.kind === "create" && !statement.filled)) while (!reader.atEnd) reader.skip();
  return { statement, marks: lexer.marks };
}

const NONE: Statement = { kind: "none" };

/** Statements that change neither a table's shape nor its rows, whatever follows. */
const HARMLESS = new Set([
  "ANALYZE", "BEGIN", "CACHE", "CHANGE", "CHECK", "CHECKSUM", "CLONE", "COMMIT", "DEALLOCATE", "END", "EXPLAIN", "FLUSH", "GRANT", "HELP", "INSTALL", "KILL", "LOCK",
  "OPTIMIZE", "PREPARE", "PURGE", "RELEASE", "REPAIR", "RESET", "RESTART", "REVOKE", "ROLLBACK", "SAVEPOINT", "SET", "SHOW", "SHUTDOWN", "SIGNAL", "START", "STOP",
  "UNINSTALL", "UNLOCK", "USE", "XA",
]);

/** What can be created, altered and dropped beside tables, indexes and schemas. Also the words that their heads may begin with. */
const OTHER_OBJECTS = new Set([
  "AGGREGATE", "ALGORITHM", "CATALOG", "DEFINER", "EVENT", "EXTERNAL", "FUNCTION", "INSTANCE", "JSON", "LIBRARY", "LOGFILE", "MATERIALIZED", "PACKAGE", "PREPARE",
  "PROCEDURE", "RESOURCE", "ROLE", "SEQUENCE", "SERVER", "SQL", "TABLESPACE", "TRIGGER", "UNDO", "USER", "VIEW",
]);

function read(reader: TokenReader): Statement {
  // Only comments: MariaDB writes such dummies.
  if (reader.atEnd) return NONE;
  const first = reader.next();
  if (first.kind === "symbol" && first.text === "(") throw new UnreadableStatement("it begins with a parenthesis");
  if (first.kind !== "word") throw reader.unexpected(first);
  switch (first.text) {
    case "ALTER":
      return readAlter(reader);
    case "CREATE":
      return readCreate(reader);
    case "DROP":
      return readDrop(reader);
    case "RENAME":
      return readRename(reader);
    case "TRUNCATE":
      return readTruncate(reader);
    case "INSERT":
    case "REPLACE":
      return readInsert(reader);
    case "UPDATE":
      return readUpdate(reader);
    case "DELETE":
      return readDelete(reader);
    case "LOAD":
      return readLoad(reader);
    case "WITH":
      return readWith(reader);
    default:
      if (HARMLESS.has(first.text)) return NONE;
      throw reader.unexpected(first);
  }
}

/** An object of another kind than tables; what such a statement says is not looked at. */
function otherObject(reader: TokenReader): Statement {
  const token = reader.peek();
  if (token.kind === "word" && OTHER_OBJECTS.has(token.text)) return NONE;
  throw reader.unexpected();
}

function readAlter(reader: TokenReader): Statement {
  if (reader.takeOne("DATABASE", "SCHEMA")) return readAlterSchema(reader);
  const mark = reader.peek().text;
  if (mark === "ONLINE" || mark === "OFFLINE" || mark === "IGNORE" || mark === "TABLE") {
    while (reader.takeOne("ONLINE", "OFFLINE", "IGNORE")) continue;
    // MariaDB: ALTER ONLINE … is of tables only.
    reader.require("TABLE");
    return readAlterTable(reader);
  }
  return otherObject(reader);
}

function readCreate(reader: TokenReader): Statement {
  const orReplace = reader.take("OR", "REPLACE");
  if (reader.take("TEMPORARY")) {
    // A session's own: it is in no binlog of rows, and another session's statements do not mean it.
    if (reader.is("TABLE") || reader.is("SEQUENCE")) return NONE;
    throw reader.unexpected();
  }
  if (reader.take("TABLE")) return readCreateTable(reader, orReplace);
  if (reader.takeOne("DATABASE", "SCHEMA")) return NONE;
  if (reader.is("SPATIAL", "REFERENCE")) return NONE;
  reader.takeOne("UNIQUE", "FULLTEXT", "SPATIAL", "VECTOR", "ONLINE", "OFFLINE");
  if (reader.take("INDEX")) return readIndex(reader, ["IF", "NOT", "EXISTS"]);
  return otherObject(reader);
}

function readDrop(reader: TokenReader): Statement {
  const temporary = reader.take("TEMPORARY");
  if (reader.takeOne("TABLE", "TABLES")) {
    if (temporary) return NONE;
    reader.take("IF", "EXISTS");
    const tables = reader.tables();
    skipWait(reader);
    reader.takeOne("RESTRICT", "CASCADE");
    reader.requireEnd();
    return { kind: "drop", tables };
  }
  if (reader.takeOne("DATABASE", "SCHEMA")) {
    reader.take("IF", "EXISTS");
    const schema = reader.name();
    reader.requireEnd();
    return { kind: "drop-schema", schema };
  }
  reader.takeOne("ONLINE", "OFFLINE");
  if (reader.take("INDEX")) return readIndex(reader, ["IF", "EXISTS"]);
  if (reader.is("SPATIAL", "REFERENCE")) return NONE;
  if (temporary && reader.is("SEQUENCE")) return NONE;
  return otherObject(reader);
}

/** `CREATE INDEX name [USING …] ON table …`, `DROP INDEX name ON table …`. */
function readIndex(reader: TokenReader, condition: string[]): Statement {
  reader.take(...condition);
  reader.name();
  if (reader.takeOne("USING", "TYPE")) reader.name();
  reader.require("ON");
  const table = reader.table();
  return { kind: "alter", table, renameTo: null, references: [], exchange: null, refills: false, reversible: false, unsupported: null };
}

function readRename(reader: TokenReader): Statement {
  if (reader.is("USER")) return NONE;
  if (!reader.takeOne("TABLE", "TABLES")) throw reader.unexpected();
  reader.take("IF", "EXISTS");
  const pairs: { from: TableReference; to: TableReference }[] = [];
  do {
    const from = reader.table();
    skipWait(reader);
    reader.require("TO");
    pairs.push({ from, to: reader.table() });
  } while (reader.takeSymbol(","));
  reader.requireEnd();
  return { kind: "rename", pairs };
}

function readTruncate(reader: TokenReader): Statement {
  reader.take("TABLE");
  const table = reader.table();
  skipWait(reader);
  reader.requireEnd();
  return { kind: "truncate", table };
}

/** MariaDB's WAIT n and NOWAIT. */
function skipWait(reader: TokenReader): void {
  if (reader.take("WAIT")) reader.next();
  else reader.take("NOWAIT");
}

function readAlterSchema(reader: TokenReader): Statement {
  const option = (word: string) => reader.is(word) && reader.peek(1).kind !== "end";
  const named = !(option("DEFAULT") || option("CHARACTER") || option("CHARSET") || option("COLLATE") || option("READ") || option("ENCRYPTION") || option("COMMENT"));
  const schema = named ? reader.name() : reader.schema;
  let charset: string | null = null;
  let collation: string | null = null;
  while (!reader.atEnd) {
    if (reader.take("CHARACTER", "SET") || reader.take("CHARSET")) {
      reader.takeSymbol("=");
      charset = optionValue(reader);
    } else if (reader.take("COLLATE")) {
      reader.takeSymbol("=");
      collation = optionValue(reader);
    } else reader.next();
  }
  return { kind: "alter-schema", schema, charset, collation };
}

/** A character set's or collation's name: a word, or the same in quotes. */
function optionValue(reader: TokenReader): string {
  const token = reader.peek();
  if (token.kind === "string") throw reader.unexpected();
  const name = reader.name();
  if (!/^\w+$/.test(name)) throw reader.unexpected(token);
  return name;
}
