/** Reads a statement's tokens one by one, with a look ahead, and the names in it. */
import type { Lexer, Token } from "../../../shared/sql/lexer.js";
import type { TableReference } from "./statement.js";
import { UnreadableStatement } from "../../../shared/sql/unreadable-statement.js";

export interface NameContext {
  /** The session's default schema. */
  schema: string;
  /** A name's bytes as text. */
  decode: (bytes: string) => string;
}

export class TokenReader {
  private readonly lexer: Lexer;
  private readonly sql: string;
  private readonly names: NameContext;
  private readonly ahead: Token[] = [];
  private last: Token | null = null;

  constructor(sql: string, lexer: Lexer, names: NameContext) {
    this.sql = sql;
    this.lexer = lexer;
    this.names = names;
  }

  /** The session's default schema. */
  get schema(): string {
    return this.names.schema;
  }

  peek(distance = 0): Token {
    while (this.ahead.length <= distance) this.ahead.push(this.lexer.next());
    return this.ahead[distance] as Token;
  }

  next(): Token {
    const token = this.peek();
    this.ahead.shift();
    this.last = token;
    return token;
  }

  /** The token taken last. */
  get previous(): Token | null {
    return this.last;
  }

  get atEnd(): boolean {
    const token = this.peek();
    return token.kind === "end" || (token.text === ";" && this.peek(1).kind === "end");
  }

  /** Takes a token that is passed over. @throws UnreadableStatement at the end, and where a second statement begins */
  skip(): Token {
    const token = this.next();
    if (token.kind === "end" || (token.kind === "symbol" && token.text === ";")) throw this.unexpected(token);
    return token;
  }

  /** Whether the next tokens are these keywords. */
  is(...words: string[]): boolean {
    return words.every((word, i) => this.peek(i).kind === "word" && this.peek(i).text === word);
  }

  isSymbol(symbol: string): boolean {
    return this.peek().kind === "symbol" && this.peek().text === symbol;
  }

  /** Takes these keywords if they come next. */
  take(...words: string[]): boolean {
    if (!this.is(...words)) return false;
    for (let i = 0; i < words.length; i++) this.next();
    return true;
  }

  /** Takes one of these keywords if it comes next. */
  takeOne(...words: string[]): boolean {
    return words.some((word) => this.take(word));
  }

  takeSymbol(symbol: string): boolean {
    if (!this.isSymbol(symbol)) return false;
    this.next();
    return true;
  }

  /** @throws UnreadableStatement when something else comes next */
  require(...words: string[]): void {
    if (!this.take(...words)) throw this.unexpected();
  }

  requireSymbol(symbol: string): void {
    if (!this.takeSymbol(symbol)) throw this.unexpected();
  }

  /** @throws UnreadableStatement when the statement goes on */
  requireEnd(): void {
    if (!this.atEnd) throw this.unexpected();
  }

  /** A name, quoted or not. */
  name(): string {
    const token = this.next();
    if (token.kind !== "name" && token.kind !== "word") throw this.unexpected(token);
    return this.names.decode(token.kind === "name" ? token.text : this.sql.slice(token.start, token.end));
  }

  /** `table`, `schema.table` or `.table`. */
  table(): TableReference {
    const { start } = this.peek();
    // `.t`: the table of the default schema, for old clients' sake.
    if (this.takeSymbol(".")) {
      const table = this.name();
      return { schema: this.names.schema, table, start, end: this.endOfLast(), qualified: false };
    }
    const first = this.name();
    if (!this.takeSymbol(".")) return { schema: this.names.schema, table: first, start, end: this.endOfLast(), qualified: false };
    const table = this.name();
    return { schema: first, table, start, end: this.endOfLast(), qualified: true };
  }

  tables(): TableReference[] {
    const list = [this.table()];
    while (this.takeSymbol(",")) list.push(this.table());
    return list;
  }

  /** Skips a parenthesis that comes next, with all that is in it. */
  skipParenthesis(): void {
    this.requireSymbol("(");
    for (let depth = 1; depth > 0; ) {
      const token = this.skip();
      if (token.kind !== "symbol") continue;
      if (token.text === "(") depth += 1;
      if (token.text === ")") depth -= 1;
    }
  }

  /** The error names keywords and signs only: the text may hold values. */
  unexpected(token: Token = this.peek()): UnreadableStatement {
    const what = token.kind === "end" ? "it ends" : token.kind === "word" || token.kind === "symbol" ? `there is ${token.text.slice(0, 40)}` : `there is a ${token.kind}`;
    return new UnreadableStatement(`${what} at byte ${token.start}, where Drover does not expect it`);
  }

  private endOfLast(): number {
    return (this.last as Token).end;
  }
}
