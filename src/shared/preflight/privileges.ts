/**
 * What an account may do, by the server's own rules, from SHOW GRANTS (which lists active roles' grants with the user's).
 *
 * A schema grant is a pattern (`_` and `%`, escaped by `\`), unless `partial_revokes` is on. Of several patterns that match a
 * schema the server uses only ONE, not their union: the one whose first wildcard comes last. With roles active, MySQL 9.7 was
 * seen to follow another, undocumented order; then only what all matching patterns have counts here, so that an answer of
 * "yes" always holds.
 */
import { parseGrantLine } from "./show-grants.js";

export interface PrivilegeOptions {
  /** `@@partial_revokes`: schema names in grants are literal. */
  partialRevokes: boolean;
  /** A role is active, so that grants of several accounts are mixed. */
  roles: boolean;
  ignoreCase: boolean;
}

export type PrivilegeScope = "global" | { schema: string; table?: string };

/** A privilege that the server takes for another one. */
const IMPLIED_BY: Record<string, readonly string[]> = {
  "REPLICATION CLIENT": ["BINLOG MONITOR", "SUPER"],
  "REPLICATION SLAVE": ["REPLICATION REPLICA"],
};

export class Privileges {
  private readonly global = new Set<string>();
  private readonly patterns = new Map<string, Set<string>>();
  private readonly tables = new Map<string, Set<string>>();
  private readonly revoked = new Map<string, Set<string>>();
  private readonly options: PrivilegeOptions;

  /** @param lines of SHOW GRANTS */
  constructor(lines: readonly string[], options: PrivilegeOptions) {
    this.options = options;
    for (const line of lines) {
      const grant = parseGrantLine(line);
      if (grant === null) continue;
      if (grant.schema === null) add(this.global, grant.privileges);
      else if (grant.action === "revoke") add(entry(this.revoked, this.folded(grant.schema)), grant.privileges);
      else if (grant.table === null) add(entry(this.patterns, this.folded(grant.schema)), grant.privileges);
      else add(entry(this.tables, this.folded(JSON.stringify([grant.schema, grant.table]))), grant.privileges);
    }
  }

  /** Which of `wanted` the account does not have there. */
  missing(wanted: readonly string[], scope: PrivilegeScope): string[] {
    return wanted.filter((privilege) => !this.has(privilege, scope));
  }

  has(privilege: string, scope: PrivilegeScope): boolean {
    if (scope === "global") return holds(this.global, privilege);
    const revoked = this.revoked.get(this.folded(scope.schema));
    if (holds(this.global, privilege) && !(revoked !== undefined && holds(revoked, privilege))) return true;
    if (this.schemaGrants(scope.schema).some((set) => holds(set, privilege))) return true;
    const table = scope.table === undefined ? undefined : this.tables.get(this.folded(JSON.stringify([scope.schema, scope.table])));
    return table !== undefined && holds(table, privilege);
  }

  /** The schema patterns that overlap on `schema`, when there are several: the reason why a grant may not count. */
  overlapping(schema: string): string[] {
    const matching = this.matching(schema);
    return matching.length > 1 ? matching.map(([pattern]) => pattern) : [];
  }

  /** One set, or none: the privileges that `schema` has by its name. */
  private schemaGrants(schema: string): Set<string>[] {
    const matching = this.matching(schema);
    const best = Math.max(...matching.map(([pattern]) => specificity(pattern)));
    const counting = this.options.roles ? matching : matching.filter(([pattern]) => specificity(pattern) === best);
    const [first, ...others] = counting.map(([, set]) => set);
    if (first === undefined) return [];
    const all = new Set([...first, ...others.flatMap((set) => [...set])]);
    return [new Set([...all].filter((privilege) => counting.every(([, set]) => holds(set, privilege))))];
  }

  private matching(schema: string): [string, Set<string>][] {
    const name = this.folded(schema);
    return [...this.patterns].filter(([pattern]) => (this.options.partialRevokes ? pattern === name : matchesPattern(pattern, name)));
  }

  private folded(name: string): string {
    return this.options.ignoreCase ? name.toLowerCase() : name;
  }
}

function holds(set: ReadonlySet<string>, privilege: string): boolean {
  return set.has(privilege) || set.has("ALL PRIVILEGES") || (IMPLIED_BY[privilege] ?? []).some((other) => set.has(other));
}

function add(set: Set<string>, privileges: readonly string[]): void {
  for (const privilege of privileges) set.add(privilege);
}

function entry(map: Map<string, Set<string>>, key: string): Set<string> {
  const known = map.get(key) ?? new Set<string>();
  map.set(key, known);
  return known;
}

/** The server's `get_sort`: the place of the first wildcard; no wildcard is the most specific. */
function specificity(pattern: string): number {
  for (let i = 0; i < pattern.length; i++) {
    if (pattern[i] === "\\") i += 1;
    else if (pattern[i] === "%" || pattern[i] === "_") return Math.min(i + 1, 127);
  }
  return 128;
}

function matchesPattern(pattern: string, name: string): boolean {
  let source = "";
  const characters = Array.from(pattern);
  for (let i = 0; i < characters.length; i++) {
    let c = characters[i] as string;
    if (c === "\\" && i + 1 < characters.length) c = characters[++i] as string;
    else if (c === "%" || c === "_") {
      source += c === "%" ? ".*" : ".";
      continue;
    }
    source += c.replace(/[\\^$.*+?|()[\]{}/]/, "\\$&");
  }
  return new RegExp(`^${source}$`, "su").test(name);
}
