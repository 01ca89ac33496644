import { expect, it } from "vitest";
import { parseMigrationSpec } from "../../../src/shared/contracts/spec.js";
import { leastPrivilegeGrants } from "../../../src/shared/preflight/grants.js";

const spec = (mode: string, tables: unknown[]) => parseMigrationSpec({ id: "m", source: "SRC", target: "DST", mode, tables });

it("carries objects on MariaDB by the privileges that it has", () => {
  const routines = parseMigrationSpec({ id: "m", source: "SRC", target: "DST", tables: [{ schema: "shop" }], objects: ["routines"] });
  const { source, target } = leastPrivilegeGrants(routines, [], "drover", { mariaDb: { source: true, target: true } });
  expect([...source, ...target].filter((grant) => grant.includes("*.*"))).toEqual([expect.stringContaining("REPLICATION SLAVE"), "GRANT SELECT ON *.* TO 'drover'@'%';", "GRANT SET USER ON *.* TO 'drover'@'%';"]);
});

it("grants a pattern's schema as a whole and a named table alone, each once", () => {
  const { source, target } = leastPrivilegeGrants(spec("copy+follow", [{ schema: "my_shop" }, { schema: "crm", table: "cu`st", targetSchema: "crm2" }, { schema: "crm", table: "größe", targetSchema: "crm2" }]), [], "drover");
  expect(source).toEqual([
    "GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO 'drover'@'%';",
    "GRANT SELECT ON `my\\_shop`.* TO 'drover'@'%';",
    "GRANT SELECT ON `crm`.`cu``st` TO 'drover'@'%';",
    "GRANT SELECT ON `crm`.`größe` TO 'drover'@'%';",
  ]);
  expect(target).toEqual([
    "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, REFERENCES ON `my\\_shop`.* TO 'drover'@'%';",
    "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, REFERENCES ON `crm2`.* TO 'drover'@'%';",
    "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON `drover`.* TO 'drover'@'%';",
  ]);
});

it("asks for no binlog where none is read, and escapes nothing under partial_revokes", () => {
  const { source } = leastPrivilegeGrants(spec("copy", [{ schema: "my_shop" }]), [], "drover", { sourceAccount: "'a'@'b'", literalSchemaNames: { source: true, target: true } });
  expect(source).toEqual(["GRANT SELECT ON `my_shop`.* TO 'a'@'b';"]);
});
