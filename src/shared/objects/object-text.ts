/** The text of an object, read by MySQL's lexical rules: its definer, what it names, and the places that may be rewritten. */
import { DroverError } from "../errors.js";
import { characterLength, isUtf8 } from "../sql/client-charset.js";
import { Lexer, type Token } from "../sql/lexer.js";
import { UnreadableStatement } from "../sql/unreadable-statement.js";
import { objectLabel, type Account, type DatabaseObject } from "./database-object.js";

export interface ObjectText {
  definer: Account | null;
  /** The clause's bytes in the text; null where there is none. */
  definerPlace: Place | null;
  /** Of a trigger: the bytes of its table's name, with the schema's where there is one. */
  tablePlace: Place | null;
  /** Of an event that acts: the word ENABLE. */
  enablePlace: Place | null;
  /** Every name and word in lower case, as bytes; those right before a `.` also in `qualifiers`. The head of a trigger is left out. */
  names: ReadonlySet<string>;
  qualifiers: ReadonlySet<string>;
}

export interface Place {
  start: number;
  end: number;
}

/** @throws DroverError STATEMENT_REFUSED when it cannot be read */
export function readObjectText(object: DatabaseObject): ObjectText {
  try {
    return readText(object);
  } catch (error) {
    if (!(error instanceof UnreadableStatement)) throw error;
    throw new DroverError("STATEMENT_REFUSED", `the ${objectLabel(object)} cannot be read: ${error.message}`, { cure: "create it on the target by hand, and leave its kind out of the objects", cause: error });
  }
}

function readText(object: DatabaseObject): ObjectText {
  const tokens = tokensOf(object);
  const result = { definer: null as Account | null, definerPlace: null as Place | null, tablePlace: null as Place | null, enablePlace: null as Place | null };
  const isWord = (i: number, word: string) => tokens[i]?.kind === "word" && tokens[i]?.text === word;
  const kindWord = tokens.findIndex((_, i) => isWord(i, object.kind.toUpperCase()));
  const definer = tokens.findIndex((token, i) => i < kindWord && token.text === "DEFINER" && tokens[i + 1]?.text === "=");
  if (definer >= 0) {
    const hasHost = tokens[definer + 3]?.text === "@" && tokens[definer + 3]?.kind === "symbol";
    const last = tokens[definer + (hasHost ? 4 : 2)] as Token;
    result.definerPlace = { start: (tokens[definer] as Token).start, end: last.end };
    result.definer = { user: nameText(object, tokens[definer + 2] as Token), host: hasHost ? nameText(object, last) : null };
  }
  let body = kindWord + 1;
  if (object.kind === "trigger") {
    const on = tokens.findIndex((_, i) => i > kindWord + 1 && isWord(i, "ON"));
    const first = tokens[on + 1];
    if (on < 0 || first === undefined) throw new UnreadableStatement("it has no table");
    const qualified = tokens[on + 2]?.text === "." && tokens[on + 2]?.kind === "symbol";
    body = on + (qualified ? 4 : 2);
    result.tablePlace = { start: first.start, end: (tokens[body - 1] as Token).end };
  } else if (object.kind === "event") {
    const act = tokens.findIndex((_, i) => i > kindWord && isWord(i, "DO"));
    const enable = tokens.findIndex((_, i) => i > kindWord && i < act && isWord(i, "ENABLE"));
    const token = tokens[enable];
    if (token !== undefined) result.enablePlace = { start: token.start, end: token.end };
  }
  const names = new Set<string>();
  const qualifiers = new Set<string>();
  for (let i = body; i < tokens.length; i++) {
    const token = tokens[i] as Token;
    if (token.kind !== "word" && token.kind !== "name") continue;
    const name = token.text.toLowerCase();
    names.add(name);
    if (tokens[i + 1]?.kind === "symbol" && tokens[i + 1]?.text === ".") qualifiers.add(name);
  }
  return { ...result, names, qualifiers };
}

function tokensOf(object: DatabaseObject): Token[] {
  const modes = object.sqlMode.split(",");
  characterLength(object.characterSet);
  const lexer = new Lexer(object.text, { charset: object.characterSet, ansiQuotes: modes.includes("ANSI_QUOTES"), noBackslashEscapes: modes.includes("NO_BACKSLASH_ESCAPES") });
  const tokens: Token[] = [];
  for (let token = lexer.next(); token.kind !== "end"; token = lexer.next()) tokens.push(token);
  return tokens;
}

/** A name of the head, which servers always quote. */
function nameText(object: DatabaseObject, token: Token): string {
  const bytes = token.kind === "name" ? token.text : object.text.slice(token.start + 1, token.end - 1);
  if (/^[\x00-\x7f]*$/.test(bytes)) return bytes;
  if (!isUtf8(object.characterSet)) throw new UnreadableStatement(`its definer is written in ${object.characterSet}`);
  return Buffer.from(bytes, "latin1").toString("utf8");
}

/** The text with some places replaced; what replaces them is byte SQL. */
export function withReplacements(text: string, replacements: readonly { at: Place | null; by: string }[]): string {
  let result = text;
  const edits = replacements.flatMap(({ at, by }) => (at === null ? [] : [{ ...at, by }]));
  for (const { start, end, by } of edits.sort((a, b) => b.start - a.start)) result = result.slice(0, start) + by + result.slice(end);
  return result;
}
