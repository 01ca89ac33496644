import { describe, expect, it } from "vitest";
import { Privileges, type PrivilegeOptions } from "../../../src/shared/preflight/privileges.js";

const privileges = (lines: string[], options: Partial<PrivilegeOptions> = {}) => new Privileges(lines, { partialRevokes: false, roles: false, ignoreCase: false, ...options });
const to = "TO `u`@`%`";

describe("privileges from SHOW GRANTS", () => {
  it("reads global, schema and table grants, with MySQL's and MariaDB's spelling", () => {
    const p = privileges([
      `GRANT REPLICATION SLAVE, BINLOG MONITOR ON *.* ${to} IDENTIFIED BY PASSWORD '*AB ON CD'`,
      `GRANT SELECT, INSERT ON \`shop\`.* ${to} WITH GRANT OPTION`,
      `GRANT SELECT ON \`crm\`.\`cust.omer\` ${to}`,
      `GRANT ALL PRIVILEGES ON \`all\`.* ${to}`,
    ]);
    expect(p.missing(["REPLICATION SLAVE", "REPLICATION CLIENT", "SELECT"], "global")).toEqual(["SELECT"]);
    expect(p.missing(["SELECT", "INSERT", "DROP"], { schema: "shop", table: "any" })).toEqual(["DROP"]);
    expect(p.has("SELECT", { schema: "crm", table: "cust.omer" })).toBe(true);
    expect(p.has("SELECT", { schema: "crm" })).toBe(false);
    expect(p.missing(["DROP", "INDEX"], { schema: "all" })).toEqual([]);
  });

  it("counts ALL PRIVILEGES and SUPER for what they hold", () => {
    expect(privileges([`GRANT ALL PRIVILEGES ON *.* ${to} WITH GRANT OPTION`]).missing(["REPLICATION SLAVE", "REPLICATION CLIENT"], "global")).toEqual([]);
    expect(privileges([`GRANT SUPER ON *.* ${to}`]).has("REPLICATION CLIENT", "global")).toBe(true);
  });

  it("does not count column grants, routines, proxies and roles", () => {
    const p = privileges([
      `GRANT SELECT (\`a\`, \`b) ON x\`), UPDATE ON \`shop\`.\`t\` ${to}`,
      `GRANT EXECUTE ON PROCEDURE \`shop\`.\`p\` ${to}`,
      `GRANT PROXY ON \`a\`@\`%\` ${to}`,
      `GRANT \`r\`@\`%\`,\`SELECT ON\`@\`%\` ${to}`,
    ]);
    expect(p.missing(["SELECT", "UPDATE", "EXECUTE"], { schema: "shop", table: "t" })).toEqual(["SELECT", "EXECUTE"]);
  });

  it("reads schema names as patterns with escapes", () => {
    const p = privileges([`GRANT SELECT ON \`a\\_b\`.* ${to}`, `GRANT INSERT ON \`c_d%\`.* ${to}`, `GRANT DROP ON \`x.*+y\`.* ${to}`, `GRANT ALTER ON \`q\`\`q\`.* ${to}`]);
    expect(p.has("SELECT", { schema: "a_b" })).toBe(true);
    expect(p.has("SELECT", { schema: "axb" })).toBe(false);
    expect(p.has("INSERT", { schema: "cxd99" })).toBe(true);
    expect(p.has("DROP", { schema: "x.*+y" })).toBe(true);
    expect(p.has("ALTER", { schema: "q`q" })).toBe(true);
  });

  it("uses only the most specific of several patterns, as the server was seen to do", () => {
    const p = privileges([`GRANT INSERT ON \`a\\_b%\`.* ${to}`, `GRANT SELECT ON \`a_b\`.* ${to}`, `GRANT UPDATE ON \`%\`.* ${to}`]);
    expect(p.missing(["SELECT", "INSERT", "UPDATE"], { schema: "a_b" })).toEqual(["SELECT", "UPDATE"]);
    expect(p.overlapping("a_b")).toHaveLength(3);
  });

  it("counts with roles only what every matching pattern has", () => {
    const lines = [`GRANT SELECT, INSERT ON \`a\\_b\`.* ${to}`, `GRANT SELECT ON \`a%\`.* ${to}`];
    expect(privileges(lines, { roles: true }).missing(["SELECT", "INSERT"], { schema: "a_b" })).toEqual(["INSERT"]);
    expect(privileges(lines).missing(["SELECT", "INSERT"], { schema: "a_b" })).toEqual([]);
  });

  it("takes names literally and takes back what is revoked under partial_revokes", () => {
    const p = privileges([`GRANT SELECT, INSERT ON *.* ${to}`, `GRANT UPDATE ON \`a%\`.* ${to}`, `REVOKE INSERT ON \`a_b\`.* FROM \`u\`@\`%\``], { partialRevokes: true });
    expect(p.missing(["SELECT", "INSERT", "UPDATE"], { schema: "a_b", table: "t" })).toEqual(["INSERT", "UPDATE"]);
    expect(p.has("INSERT", { schema: "other" })).toBe(true);
    expect(p.has("UPDATE", { schema: "a%" })).toBe(true);
  });

  it("merges the grants of MariaDB's active role", () => {
    const p = privileges(["GRANT `r1` TO `u1`@`%`", "GRANT USAGE ON *.* TO `u1`@`%`", "GRANT SELECT ON `s`.* TO `r1`", "GRANT INSERT ON `s`.* TO `r2`", "SET DEFAULT ROLE `r1` FOR `u1`@`%`"], { roles: true });
    expect(p.missing(["SELECT", "INSERT", "DROP"], { schema: "s" })).toEqual(["DROP"]);
  });

  it("reads names without quotes", () => {
    expect(privileges(["GRANT SELECT ON shop.* TO u@`%`", "GRANT SELECT ON a.b TO u@`%`"]).missing(["SELECT"], { schema: "shop" })).toEqual([]);
  });

  it("compares without case where the server does", () => {
    expect(privileges([`GRANT SELECT ON \`shop\`.* ${to}`], { ignoreCase: true }).has("SELECT", { schema: "SHOP" })).toBe(true);
  });
});
