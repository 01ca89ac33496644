/** The number of members of an ENUM or SET, from its `COLUMN_TYPE`: `enum('a','it''s')`. */
export function enumMembers(columnType: string): number {
  let members = 0;
  let inside = false;
  for (let i = 0; i < columnType.length; i++) {
    const c = columnType[i];
    if (c === "\\" && inside) i += 1;
    else if (c === "'" && inside && columnType[i + 1] === "'") i += 1;
    else if (c === "'") {
      if (!inside) members += 1;
      inside = !inside;
    }
  }
  return members;
}
