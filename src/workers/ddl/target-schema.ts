/** ALTER DATABASE of a mapped schema: what later CREATE TABLE statements inherit. */
import { identifier, sql, type ByteSql } from "../../shared/mysql/bytes.js";
import type { Session } from "../../shared/mysql/session.js";
import type { Statement } from "./sql/statement.js";

/** Doing it twice does nothing. A schema that is not there yet is created later, with the source's defaults of then. */
export async function alterTargetSchema(session: Session, schema: string, statement: Extract<Statement, { kind: "alter-schema" }>): Promise<void> {
  const clauses = [
    ...(statement.charset === null ? [] : [`CHARACTER SET ${statement.charset}`]),
    ...(statement.collation === null ? [] : [`COLLATE ${statement.collation}`]),
  ];
  if (clauses.length === 0 || !(await schemaExists(session, schema))) return;
  await session.run(sql`ALTER DATABASE ${identifier(schema)} ${clauses.join(" ") as ByteSql}`);
}

async function schemaExists(session: Session, schema: string): Promise<boolean> {
  const rows = await session.rows("SHOW DATABASES" as ByteSql);
  return rows.some((row) => Object.values(row).includes(schema));
}
