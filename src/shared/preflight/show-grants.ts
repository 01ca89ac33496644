/** Takes the lines of SHOW GRANTS apart. Column grants, routines, proxies and roles are left out: none of them helps us. */

export interface GrantLine {
  /** `revoke`: a partial revoke (MySQL 8.0.16+), which takes a global privilege away for one schema. */
  action: "grant" | "revoke";
  /** Upper case, `ALL PRIVILEGES` as such. */
  privileges: string[];
  /** Null: global. A pattern as the server stores it (`shop\_%`) when `table` is null. */
  schema: string | null;
  table: string | null;
}

/** Null for a line that says nothing about schemas and tables. */
export function parseGrantLine(line: string): GrantLine | null {
  const action = /^(GRANT|REVOKE) /.exec(line)?.[1];
  if (action === undefined) return null;
  const list = splitTopLevel(line, action.length + 1);
  if (list === null) return null;
  const object = /^(?:TABLE )?(\*|`(?:[^`]|``)*`|"(?:[^"]|"")*"|[^\s.`"]+)\.(\*|`(?:[^`]|``)*`|"(?:[^"]|"")*"|[^\s.`"]+) (?:TO|FROM) /.exec(line.slice(list.end));
  if (object === null) return null;
  const schema = object[1] as string;
  const table = object[2] as string;
  return {
    action: action === "GRANT" ? "grant" : "revoke",
    privileges: list.items.filter((item) => !item.includes("(")).map((item) => (item === "ALL" ? "ALL PRIVILEGES" : item.toUpperCase())),
    schema: schema === "*" ? null : unquoted(schema),
    table: table === "*" ? null : unquoted(table),
  };
}

/** The comma list from `start` to the word ON outside quotes and parentheses; null when there is none (a role is granted). */
function splitTopLevel(line: string, start: number): { items: string[]; end: number } | null {
  const items: string[] = [];
  let item = "";
  let depth = 0;
  let quote = "";
  for (let i = start; i < line.length; i++) {
    const c = line[i] as string;
    if (quote !== "") {
      if (c === quote) quote = "";
    } else if (c === "`" || c === '"' || c === "'") quote = c;
    else if (c === "(") depth += 1;
    else if (c === ")") depth -= 1;
    else if (depth === 0 && c === ",") {
      items.push(item.trim());
      item = "";
      continue;
    } else if (depth === 0 && line.startsWith(" ON ", i)) return { items: [...items, item.trim()], end: i + 4 };
    else if (depth === 0 && line.startsWith(" TO ", i)) return null;
    item += c;
  }
  return null;
}

function unquoted(name: string): string {
  const quote = name[0] as string;
  return quote === "`" || quote === '"' ? name.slice(1, -1).replaceAll(quote + quote, quote) : name;
}
