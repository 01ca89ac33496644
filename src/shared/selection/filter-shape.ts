/**
 * Whether a `where` filter has the shape of ONE expression over the row's own columns. The servers say whether it means
 * anything; this keeps out what they would take: a second condition behind a closed parenthesis, a comment that swallows what
 * follows, another statement, other tables (whose changes nobody follows), and functions that give another answer on the other
 * server or a moment later.
 */

export interface FilterObstacle {
  /** Goes on from `the "where" of x`. */
  what: string;
  cure: string;
}

type Token = { kind: "word" | "mark" | "text" | "name"; text: string };

/** Give another value by time, server, session or chance, or do something. */
const UNSTABLE = new Set(
  ("NOW SYSDATE CURRENT_TIMESTAMP CURRENT_TIME CURRENT_DATE CURDATE CURTIME LOCALTIME LOCALTIMESTAMP UTC_DATE UTC_TIME UTC_TIMESTAMP RAND UUID UUID_SHORT " +
    "CONNECTION_ID CURRENT_USER CURRENT_ROLE SESSION_USER SYSTEM_USER USER DATABASE SCHEMA VERSION LAST_INSERT_ID ROW_COUNT FOUND_ROWS SLEEP BENCHMARK GET_LOCK RELEASE_LOCK " +
    "RELEASE_ALL_LOCKS IS_FREE_LOCK IS_USED_LOCK LOAD_FILE RANDOM_BYTES MASTER_POS_WAIT SOURCE_POS_WAIT WAIT_FOR_EXECUTED_GTID_SET NEXTVAL LASTVAL SETVAL SYS_GUID").split(" "),
);
const NOT_IN_A_FILTER = new Set(["SELECT", "TABLE", "INTO", "UNION", "PROCEDURE", "OVER"]);

export function filterObstacle(filter: string): FilterObstacle | null {
  const tokens = tokensOf(filter);
  if (!Array.isArray(tokens)) return tokens;
  if (tokens.length === 0) return { what: "is empty", cure: "write a condition, or leave the key out" };
  let depth = 0;
  for (const [i, { kind, text }] of tokens.entries()) {
    const next = tokens[i + 1]?.text;
    if (kind === "mark") {
      if (text === ";") return { what: 'has a ";"', cure: "write one condition, not statements" };
      if (text === "@") return { what: "uses a variable, which has no meaning on another connection", cure: "write the value itself" };
      if (text === "?") return { what: 'has a "?", which is no parameter here', cure: "write the value itself" };
      // Before a parenthesis a qualified name is a stored function's: nobody knows what it reads, or whether the target has the same.
      if (text === "(" && tokens[i - 2]?.text === "." && tokens[i - 1]?.kind !== "mark") return { what: "calls a stored function", cure: "write the condition itself" };
      depth += text === "(" ? 1 : text === ")" ? -1 : 0;
      if (depth < 0) return { what: "closes a parenthesis that it has not opened", cure: "balance the parentheses" };
    } else if (kind === "word") {
      const word = text.toUpperCase();
      // A column may have such a name when it is qualified or quoted; a function stands before a parenthesis.
      if (NOT_IN_A_FILTER.has(word)) return { what: `has ${word}: only the row's own columns can be followed`, cure: "write a condition over the columns of this table" };
      if (UNSTABLE.has(word) && (next === "(" || NEEDS_NO_PARENTHESIS.has(word)) && tokens[i - 1]?.text !== ".")
        return { what: `calls ${word}, which does not give the same answer on both servers at any time`, cure: "write the value itself" };
      if (word === "UNIX_TIMESTAMP" && next === "(" && tokens[i + 2]?.text === ")") return { what: "calls UNIX_TIMESTAMP() of now", cure: "write the value itself" };
    }
  }
  return depth === 0 ? null : { what: "does not close a parenthesis", cure: "balance the parentheses" };
}

const NEEDS_NO_PARENTHESIS = new Set(["CURRENT_TIMESTAMP", "CURRENT_TIME", "CURRENT_DATE", "CURRENT_USER", "LOCALTIME", "LOCALTIMESTAMP", "UTC_DATE", "UTC_TIME", "UTC_TIMESTAMP"]);

/** By MySQL's lexer under our sql_mode (backslash escapes on, `"` is a string). */
function tokensOf(filter: string): Token[] | FilterObstacle {
  const tokens: Token[] = [];
  for (let i = 0; i < filter.length; ) {
    const rest = filter.slice(i);
    const c = filter[i] as string;
    if (/\s/.test(c)) i += 1;
    else if (c === "#" || rest.startsWith("/*") || /^--(\s|$)/.test(rest) || rest.startsWith("*/"))
      return { what: "has a comment", cure: "leave comments out" };
    else if (c === "\0") return { what: "has a NUL character", cure: "write it as an escape" };
    else if (c === "'" || c === '"' || c === "`") {
      const end = endOfQuoted(filter, i, c);
      if (end === null) return { what: `does not close a ${c}`, cure: "balance the quotes" };
      tokens.push({ kind: c === "`" ? "name" : "text", text: filter.slice(i, end) });
      i = end;
    } else {
      const word = /^[\p{L}\p{N}_$\u0080-\uffff]+/u.exec(rest)?.[0];
      tokens.push(word === undefined ? { kind: "mark", text: c } : { kind: "word", text: word });
      i += word?.length ?? 1;
    }
  }
  return tokens;
}

/** The index behind the closing quote; null when there is none. A doubled quote is two quoted parts side by side, which ends the same. */
function endOfQuoted(text: string, start: number, quote: string): number | null {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === "\\" && quote !== "`") i += 1;
    else if (text[i] === quote) return i + 1;
  }
  return null;
}
