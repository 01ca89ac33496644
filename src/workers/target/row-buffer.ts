/** Where rows go on their way to the target: collected in the form in which they are written. */
import { writtenAs } from "../../shared/columns/create-dialect.js";
import { LoadWriter } from "../../shared/columns/load-writer.js";
import { ReplaceWriter, type ReplaceStatement } from "../../shared/columns/replace-writer.js";
import type { TableDefinition, TableName } from "../../shared/columns/table-definition.js";
import { expressionsMayWarn } from "../../shared/columns/write-warnings.js";
import type { Session } from "../../shared/mysql/session.js";
import { loadFile, replaceRows, type WrittenTable } from "./checked-write.js";

/** Most rows in one REPLACE. */
const REPLACE_ROWS = 5_000;
/** The same where the table's own expressions may warn, several times a row: the server must be able to list every warning. */
const WARNING_ROWS = 100;

export class RowBuffer {
  private readonly table: WrittenTable;
  /** The fast way; null on targets with local_infile=OFF, and where warnings must be looked at a few rows at a time. */
  private readonly file: LoadWriter | null;
  /** All rows without a file; with one, the few that a file cannot carry exactly. */
  private readonly rest: ReplaceWriter;
  private statements: ReplaceStatement[] = [];

  /** @param statementBytes the longest statement to build */
  constructor(source: TableDefinition, table: TableName, options: { localInfile: boolean; statementBytes: number; isMariaDb: boolean }) {
    const definition = writtenAs(source, options.isMariaDb ? "mariadb" : "mysql");
    this.table = { definition, target: table };
    const mayWarn = expressionsMayWarn(definition);
    this.rest = new ReplaceWriter(definition, table, { maxBytes: options.statementBytes, maxRows: mayWarn ? WARNING_ROWS : REPLACE_ROWS });
    this.file = options.localInfile && !mayWarn ? new LoadWriter(definition, table, { aside: (row, start, end) => this.addStatement(row, start, end) }) : null;
  }

  /** Takes a text row; its buffer may be reused afterwards. */
  add(row: Buffer, start = 0, end = row.length): void {
    if (this.file) this.file.add(row, start, end);
    else this.addStatement(row, start, end);
  }

  /** Writes what was collected, inside the caller's transaction. @throws DroverError ROW_REFUSED */
  async write(session: Session): Promise<void> {
    const file = this.file?.finish() ?? null;
    if (file) await loadFile(session, file, this.table);
    this.keep(this.rest.finish());
    for (const statement of this.statements) await replaceRows(session, statement, this.table);
  }

  reset(): void {
    this.file?.reset();
    this.rest.finish();
    this.statements = [];
  }

  private addStatement(row: Buffer, start: number, end: number): void {
    this.keep(this.rest.add(row, start, end));
  }

  private keep(statement: ReplaceStatement | null): void {
    if (statement) this.statements.push(statement);
  }
}
