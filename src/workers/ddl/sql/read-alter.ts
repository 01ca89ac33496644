/** ALTER TABLE: its clauses as far as they name tables or bear on whether it can be carried. */
import type { Statement, TableReference } from "./statement.js";
import type { TokenReader } from "./token-reader.js";

type Alter = Extract<Statement, { kind: "alter" }>;

/** What has been read of the statement so far. */
interface Progress {
  alter: Alter;
  /** CHANGE and RENAME COLUMN clauses. */
  renamedColumns: number;
}

/** From behind ALTER TABLE. */
export function readAlterTable(reader: TokenReader): Alter {
  // MariaDB's IF EXISTS, WAIT n and NOWAIT.
  reader.take("IF", "EXISTS");
  const table = reader.table();
  const alter: Alter = { kind: "alter", table, renameTo: null, references: [], exchange: null, refills: false, reversible: false, unsupported: null };
  const progress: Progress = { alter, renamedColumns: 0 };
  if (reader.take("WAIT")) reader.next();
  else reader.take("NOWAIT");
  while (!reader.atEnd) {
    readClause(reader, progress);
    if (!reader.takeSymbol(",")) reader.requireEnd();
  }
  // Two columns that change places under new names look the same before and after.
  alter.reversible ||= progress.renamedColumns > 1;
  return alter;
}

function readClause(reader: TokenReader, progress: Progress): void {
  const { alter } = progress;
  if (reader.take("RENAME")) return readRenameClause(reader, progress);
  if (reader.take("EXCHANGE", "PARTITION")) {
    reader.name();
    reader.require("WITH", "TABLE");
    alter.exchange = reader.table();
    alter.reversible = true;
  } else if (reader.takeOne("IMPORT", "DISCARD")) {
    alter.refills = true;
  } else if (reader.is("CHANGE")) {
    progress.renamedColumns += 1;
  }
  const adding = reader.is("ADD");
  skipClause(reader, alter.references, (word) => {
    // As a table option it stands before a number; in a column it numbers the rows in whatever order they lie.
    if (word === "AUTO_INCREMENT" && adding) alter.refills = true;
    // The tables that a MERGE table consists of.
    if (word === "UNION") alter.unsupported = "UNION";
  });
}

/** RENAME [TO | AS | =] table, RENAME COLUMN a TO b, RENAME INDEX a TO b. */
function readRenameClause(reader: TokenReader, progress: Progress): void {
  if (reader.take("COLUMN")) {
    progress.renamedColumns += 1;
    return skipClause(reader, []);
  }
  if (reader.takeOne("INDEX", "KEY")) return skipClause(reader, []);
  if (!reader.takeOne("TO", "AS")) reader.takeSymbol("=");
  progress.alter.renameTo = reader.table();
}

/** Passes over a clause up to the comma or the end, and collects the tables behind REFERENCES on the way. */
function skipClause(reader: TokenReader, references: TableReference[], onWord: (word: string) => void = () => undefined): void {
  for (let depth = 0; ; ) {
    if (depth === 0 && (reader.atEnd || reader.isSymbol(","))) return;
    const behindDot = reader.previous?.kind === "symbol" && reader.previous.text === ".";
    const token = reader.skip();
    if (token.kind === "symbol" && token.text === "(") depth += 1;
    if (token.kind === "symbol" && token.text === ")") depth -= 1;
    if (depth < 0) throw reader.unexpected(token);
    // A reserved word, which only a name behind a dot may be without quotes.
    if (token.kind !== "word" || behindDot) continue;
    if (token.text === "REFERENCES") references.push(reader.table());
    else onWord(token.text);
  }
}
