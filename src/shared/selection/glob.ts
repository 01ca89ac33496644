/**
 * The patterns of `include` and `exclude`: `*` stands for any characters, also none, `?` for exactly one, everything else
 * for itself. A name may hold any character, the two wildcards included: `?` matches them, and `table` names them exactly.
 */

export interface GlobOptions {
  /** True where the server does not tell names by case (`lower_case_table_names` 1 and 2). */
  ignoreCase: boolean;
}

/** Whether `pattern` has a wildcard at all; without one it is a name. */
export function isGlob(pattern: string): boolean {
  return /[*?]/.test(pattern);
}

/** A test for names. */
export function globMatcher(pattern: string, options: GlobOptions): (name: string) => boolean {
  // `u`: one character of the Unicode planes above the first is one `?`. `s`: a name may hold a line break.
  const source = Array.from(pattern, (c) => (c === "*" ? ".*" : c === "?" ? "." : c.replace(/[\\^$.|+()[\]{}/]/, "\\$&"))).join("");
  const expression = new RegExp(`^${source}$`, options.ignoreCase ? "sui" : "su");
  return (name) => expression.test(name);
}
