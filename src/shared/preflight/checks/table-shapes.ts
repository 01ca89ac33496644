/** Each source table can be carried: it can be read, has a key (case 24), an engine with transactions, and known types. */
import { columnType } from "../../columns/column-types.js";
import { whyNoKey } from "../../columns/choose-key.js";
import { blankQuoted, parseShowCreate } from "../../columns/show-create.js";
import { copiedColumns, type TableDefinition } from "../../columns/table-definition.js";
import { qualified } from "../../mysql/bytes.js";
import { DroverError } from "../../errors.js";
import { allowsNoKey } from "../../selection/no-key.js";
import { nameOf } from "../../selection/selected-table.js";
import type { Check } from "../check.js";
import type { PlannedTable } from "../context.js";
import { failure, warning, type Finding } from "../finding.js";

export const tableShapes: Check = {
  name: "source tables",
  run({ source, tables, spec }) {
    if (source === null) return [];
    return tables.flatMap((table) => (table.definition === null ? unreadable(table, source.name) : shapeFindings(table.definition, source.name, allowsNoKey(spec, table.source))));
  },
};

function unreadable(table: PlannedTable, server: string): Finding[] {
  // A lack of grants is told by the check of grants; a table that went away meanwhile is not there for the planner either.
  if (table.unreadable === null) return [failure("table-missing", `${server}: the table ${nameOf(table.source)} went away while it was looked at`, "run the check again")];
  if (DENIED.has(table.unreadable.errno ?? 0)) return [];
  if (table.unreadable.code === "UNDECODABLE") return [failure("column-type", `${server}: ${table.unreadable.message}`, table.unreadable.cure ?? "leave the table out")];
  return [failure("table-unreadable", `${server}: the definition of ${nameOf(table.source)} cannot be read: ${table.unreadable.message}`, `see what "SHOW CREATE TABLE" says, or leave the table out`)];
}

const DENIED = new Set([1044, 1045, 1142, 1143, 1227]);

/** @param mayLackKey another check looks at it: `no-key.ts` */
function shapeFindings(definition: TableDefinition, server: string, mayLackKey: boolean): Finding[] {
  const findings: Finding[] = [];
  const name = nameOf(definition);
  const sqlName = Buffer.from(qualified(definition.schema, definition.table), "latin1").toString("utf8");
  const unknown = unknownTypes(definition);
  for (const error of unknown) findings.push(failure("column-type", `${server}: ${error.message}`, error.cure ?? "leave the table out"));
  if (definition.key === null && unknown.length === 0 && !mayLackKey)
    findings.push(failure("table-key", `${server}: ${whyNoKey(definition)}; without a key no row can be told from another`, `on ${server} run: ALTER TABLE ${sqlName} ADD PRIMARY KEY (…); or leave the table out ("exclude"); or, if it is small, set "allowNoKey"`));
  if (definition.engine.toUpperCase() !== "INNODB")
    findings.push(failure("table-engine", `${server}: ${name} has the engine ${definition.engine || "(none)"}: without transactions there is no state of it that a copy could be equal to`, `on ${server} run: ALTER TABLE ${sqlName} ENGINE=InnoDB; or leave the table out ("exclude")`));
  const { tail } = parseShowCreate(definition.createStatement);
  const option = SPECIAL_OPTION.exec(blankQuoted(tail))?.[0] ?? (/\bENCRYPTION='Y'/i.test(tail) ? "ENCRYPTION" : undefined);
  if (option !== undefined)
    findings.push(warning("table-option", `${server}: ${name} has the table option ${option}, which the target may not be able to follow`, "should its creation fail, create the target table by hand"));
  return findings;
}

/** Places in the file system and encryption: things of one server. */
const SPECIAL_OPTION = /\b(?:DATA DIRECTORY|INDEX DIRECTORY|TABLESPACE|ENCRYPTED)\b/;

function unknownTypes(definition: TableDefinition): DroverError[] {
  return copiedColumns(definition).flatMap((column) => {
    try {
      columnType(definition, column);
      return [];
    } catch (error) {
      if (error instanceof DroverError) return [error];
      throw error;
    }
  });
}
