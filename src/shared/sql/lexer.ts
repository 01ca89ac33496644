/**
 * MySQL's lexical rules (sql/sql_lex.cc, "Lexical structure" in the manual): what is a name, a string, a comment.
 *
 * A statement is read as bytes (a string with one byte per character) in the client's character set. The server has taken
 * version comments that it did not execute out of what it writes to the binlog (`/*!` becomes `/* `), so every `/*!` left
 * was executed and its content is read as part of the statement.
 */
import { characterLength, extraSpace, type CharacterLength } from "./client-charset.js";
import { UnreadableStatement } from "./unreadable-statement.js";

export interface Token {
  /** `word`: a keyword or an unquoted name. `name`: a quoted name. `end`: behind the last token. */
  kind: "word" | "name" | "string" | "symbol" | "end";
  /** A word in upper case; a symbol; the bytes of a name without its quotes; empty for strings. */
  text: string;
  /** Offsets of the bytes in the statement. */
  start: number;
  end: number;
}

export interface LexerOptions {
  /** The client's character set. */
  charset: string;
  /** ANSI_QUOTES: double quotes are around names. */
  ansiQuotes: boolean;
  /** NO_BACKSLASH_ESCAPES: a backslash in a string is a character like any other. */
  noBackslashEscapes: boolean;
}

/** A place where a version comment began or ended: these bytes are not part of what was executed. */
export interface VersionMark {
  start: number;
  end: number;
}

const SPACE = /[ \t\n\v\f\r]/;
const WORD = /[0-9A-Za-z_$\x80-\xff]/;

export class Lexer {
  /** Marks of version comments met so far. */
  readonly marks: VersionMark[] = [];
  private readonly sql: string;
  private readonly options: LexerOptions;
  private readonly lengthAt: CharacterLength;
  private readonly space: string | null;
  private at = 0;
  private inVersionComment = false;

  /** @param sql one byte per character */
  constructor(sql: string, options: LexerOptions) {
    this.sql = sql;
    this.options = options;
    this.lengthAt = characterLength(options.charset);
    this.space = extraSpace(options.charset);
  }

  /** @throws UnreadableStatement when a comment or a quote has no end */
  next(): Token {
    this.skipSpace();
    const { sql } = this;
    const start = this.at;
    if (start >= sql.length) return { kind: "end", text: "", start, end: start };
    const c = sql[start] as string;
    if (c === "`") return this.quotedName("`");
    if (c === '"' && this.options.ansiQuotes) return this.quotedName('"');
    if (c === "'" || c === '"') return this.string(c);
    if (WORD.test(c)) {
      while (this.at < sql.length && WORD.test(sql[this.at] as string) && sql[this.at] !== this.space) this.at += this.lengthAt(sql, this.at);
      return { kind: "word", text: asciiUpper(sql.slice(start, this.at)), start, end: this.at };
    }
    this.at += 1;
    return { kind: "symbol", text: c, start, end: this.at };
  }

  private skipSpace(): void {
    const { sql } = this;
    for (;;) {
      const rest = sql[this.at];
      if (rest === undefined) return;
      if (SPACE.test(rest) || rest === this.space) this.at += 1;
      else if (rest === "#" || (rest === "-" && sql[this.at + 1] === "-" && this.endsDashes(this.at + 2))) this.skipLine();
      else if (rest === "/" && sql[this.at + 1] === "*") this.comment();
      else if (rest === "*" && sql[this.at + 1] === "/" && this.inVersionComment) {
        this.marks.push({ start: this.at, end: this.at + 2 });
        this.inVersionComment = false;
        this.at += 2;
      } else return;
    }
  }

  /** `--` begins a comment only before a space, a control character or the end. */
  private endsDashes(i: number): boolean {
    return i >= this.sql.length || this.sql.charCodeAt(i) <= 0x20 || this.sql.charCodeAt(i) === 0x7f;
  }

  private skipLine(): void {
    const end = this.sql.indexOf("\n", this.at);
    this.at = end < 0 ? this.sql.length : end + 1;
  }

  private comment(): void {
    const { sql } = this;
    // MariaDB's own version comments begin with M.
    const version = /^\/\*M?!(?:\d{5,6})?/.exec(sql.slice(this.at, this.at + 12));
    // Servers have not agreed on what that means, and warn of it.
    if (version !== null && this.inVersionComment) throw new UnreadableStatement("it has a version comment in another one");
    if (version !== null) {
      const end = this.at + version[0].length;
      this.marks.push({ start: this.at, end });
      this.inVersionComment = true;
      this.at = end;
      return;
    }
    const end = sql.indexOf("*/", this.at + 2);
    if (end < 0) throw new UnreadableStatement("it has a comment without an end");
    this.at = end + 2;
  }

  private quotedName(quote: string): Token {
    const start = this.at;
    const end = this.skipQuoted(quote, false);
    return { kind: "name", text: this.sql.slice(start + 1, end - 1).replaceAll(quote + quote, quote), start, end };
  }

  private string(quote: string): Token {
    const start = this.at;
    return { kind: "string", text: "", start, end: this.skipQuoted(quote, !this.options.noBackslashEscapes) };
  }

  /** Moves behind the closing quote. */
  private skipQuoted(quote: string, escapes: boolean): number {
    const { sql } = this;
    for (let i = this.at + 1; i < sql.length; i += this.lengthAt(sql, i)) {
      const c = sql[i] as string;
      if (escapes && c === "\\") i += 1;
      else if (c === quote) {
        if (sql[i + 1] !== quote) return (this.at = i + 1);
        i += 1;
      }
    }
    throw new UnreadableStatement("it has a quote without an end");
  }
}

/** Upper case of the ASCII letters only: the other bytes are no characters of their own. */
function asciiUpper(text: string): string {
  return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}
