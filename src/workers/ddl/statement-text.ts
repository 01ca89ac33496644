/** From a statement's bytes to what it does: the source itself says what its character sets mean. */
import type { BinlogStatement } from "../binlog/events.js";
import { sql, type ByteSql } from "../../shared/mysql/bytes.js";
import type { Session } from "../../shared/mysql/session.js";
import { isUtf8, utf8Collation } from "../../shared/sql/client-charset.js";
import { readStatement, type ReadStatement } from "./sql/read-statement.js";
import { UnreadableStatement } from "../../shared/sql/unreadable-statement.js";

/** `sql_mode` as the binlog has it: bits. */
const ANSI_QUOTES = 4n;
const NO_BACKSLASH_ESCAPES = 0x100000n;

export type StatementText = Pick<BinlogStatement, "schema" | "clientCollation" | "sqlMode"> & {
  /** One byte per character. */
  text: string;
};

/** Runs a query on the source when a statement is not in UTF-8. */
export type AskSource = <T>(work: (session: Session) => Promise<T>) => Promise<T>;

export interface KnownStatement extends ReadStatement {
  /** The client's character set. */
  charset: string;
}

/**
 * @param ignoreCase the source does not tell names by case: it keeps them in lower case, the statement has them as they were typed
 * @throws UnreadableStatement when it cannot be classified
 */
export async function readStatementText(statement: StatementText, ignoreCase: boolean, ask: AskSource): Promise<KnownStatement> {
  const folded = (name: string) => (ignoreCase ? name.toLowerCase() : name);
  const charset = utf8Collation(statement.clientCollation) ?? (await ask((session) => charsetOf(session, statement.clientCollation)));
  const lexing = {
    charset, schema: folded(statement.schema), ansiQuotes: (statement.sqlMode & ANSI_QUOTES) !== 0n, noBackslashEscapes: (statement.sqlMode & NO_BACKSLASH_ESCAPES) !== 0n,
  };
  if (isUtf8(charset)) return { charset, ...readStatement(statement.text, { ...lexing, decode: (bytes) => folded(fromUtf8(bytes)) }) };
  // Names are read twice: first to know which there are, then with what the server made of them.
  const names = new Map<string, string>();
  readStatement(statement.text, { ...lexing, decode: (bytes) => (isAscii(bytes) ? bytes : (names.set(bytes, ""), "?")) });
  if (names.size > 0) await ask((session) => decodeNames(session, charset, names));
  return { charset, ...readStatement(statement.text, { ...lexing, decode: (bytes) => folded(names.get(bytes) ?? bytes) }) };
}

/** A name in the client's character set, as bytes. @throws UnreadableStatement when that set does not have its characters */
export async function encodeName(name: string, charset: string, ask: AskSource): Promise<string> {
  const utf8 = Buffer.from(name, "utf8").toString("latin1");
  if (isUtf8(charset) || isAscii(name)) return utf8;
  const hex = Buffer.from(utf8, "latin1").toString("hex");
  const [row] = await ask((session) =>
    session.rows(sql`SELECT HEX(CONVERT(_utf8mb4 0x${hex as ByteSql} USING ${charset as ByteSql})) AS there, HEX(CONVERT(CONVERT(_utf8mb4 0x${hex as ByteSql} USING ${charset as ByteSql}) USING utf8mb4)) AS back`),
  );
  if (row?.["back"]?.toLowerCase() !== hex) throw new UnreadableStatement(`the name ${name} cannot be written in its character set ${charset}`);
  return Buffer.from(row["there"] ?? "", "hex").toString("latin1");
}

async function charsetOf(session: Session, collation: number): Promise<string> {
  const [row] = await session.rows(sql`SELECT CHARACTER_SET_NAME AS charset FROM information_schema.COLLATIONS WHERE ID=${collation}`);
  const charset = row?.["charset"];
  if (typeof charset !== "string" || !/^\w+$/.test(charset)) throw new UnreadableStatement(`the source does not know the collation ${collation} that it is written in`);
  return charset;
}

async function decodeNames(session: Session, charset: string, names: Map<string, string>): Promise<void> {
  for (const bytes of names.keys()) {
    const hex = Buffer.from(bytes, "latin1").toString("hex") as ByteSql;
    const [row] = await session.rows(sql`SELECT CONVERT(_${charset as ByteSql} 0x${hex} USING utf8mb4) AS name`);
    names.set(bytes, row?.["name"] ?? "");
  }
}

function fromUtf8(bytes: string): string {
  return isAscii(bytes) ? bytes : Buffer.from(bytes, "latin1").toString("utf8");
}

function isAscii(text: string): boolean {
  
  return /^[\x00-\x7f]*$/.test(text);
}
