/** Which names the spec selects, and where a name of the source goes on the target. */
import type { TableName } from "../columns/table-definition.js";
import type { MigrationSpec } from "../contracts/spec.js";
import { globMatcher } from "./glob.js";
import type { SelectedTable } from "./selected-table.js";

export class SelectionMap {
  private readonly spec: MigrationSpec;
  private readonly ignoreCase: boolean;

  /** @param ignoreCase the source does not tell names by case (`lower_case_table_names` 1 and 2) */
  constructor(spec: MigrationSpec, ignoreCase: boolean) {
    this.spec = spec;
    this.ignoreCase = ignoreCase;
  }

  /** The table as the spec selects it; null when it does not. */
  select(source: TableName): SelectedTable | null {
    for (const selection of this.spec.tables) {
      if (!this.same(selection.schema, source.schema)) continue;
      if (selection.kind === "table") {
        if (this.same(selection.table, source.table)) return { source, target: { schema: selection.targetSchema, table: selection.targetTable }, where: selection.where };
        continue;
      }
      const matches = (pattern: string) => globMatcher(pattern, { ignoreCase: this.ignoreCase })(source.table);
      if (selection.include.some(matches) && !selection.exclude.some(matches)) return { source, target: { schema: selection.targetSchema, table: source.table }, where: null };
    }
    return null;
  }

  /** Where a table of this name goes, also one that the spec does not select: its schema is mapped as that of others is. */
  target(source: TableName): TableName {
    return this.select(source)?.target ?? { schema: this.targetSchema(source.schema), table: source.table };
  }

  targetSchema(schema: string): string {
    return this.spec.tables.find((selection) => this.same(selection.schema, schema))?.targetSchema ?? schema;
  }

  /** Whether any table of this schema is selected. */
  knowsSchema(schema: string): boolean {
    return this.spec.tables.some((selection) => this.same(selection.schema, schema));
  }

  sameTable(a: TableName, b: TableName): boolean {
    return this.same(a.schema, b.schema) && this.same(a.table, b.table);
  }

  same(a: string, b: string): boolean {
    return a === b || (this.ignoreCase && a.toLowerCase() === b.toLowerCase());
  }
}
