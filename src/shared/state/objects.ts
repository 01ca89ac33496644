/**
 * The journal of carried objects. A row is written before its object is created: what is there after a crash is ours to
 * drop and create again.
 */
import { identifier, sql, type ByteSql } from "../mysql/bytes.js";
import type { Session } from "../mysql/session.js";
import type { DatabaseObject, ObjectKind } from "../objects/database-object.js";
import { NOW, id, json, text, textOf } from "./values.js";

export interface CarriedObject {
  /** `schema`: a schema whose default collation is another one for the moment; its own is the `name`. */
  kind: ObjectKind | "schema";
  /** On the target. */
  schema: string;
  name: string;
  /** Of the statement and its settings. */
  fingerprint: string;
  /** False while it is being created. */
  created: boolean;
  /** It was there before, the same: not ours to drop. */
  adopted: boolean;
  /** Another one of that name, which stood there before and which this one takes the place of (`existingTarget: replace`). */
  replaced: DatabaseObject | null;
}

export class ObjectStore {
  private readonly table: ByteSql;

  constructor(schema: string) {
    this.table = `${identifier(schema)}.objects` as ByteSql;
  }

  async list(session: Session, migration: string): Promise<CarriedObject[]> {
    const rows = await session.rows(sql`SELECT * FROM ${this.table} WHERE migration=${id(migration)} ORDER BY created_at, kind, name`);
    return rows.map((row) => ({
      kind: textOf(row, "kind") as CarriedObject["kind"], schema: textOf(row, "target_schema"), name: textOf(row, "name"), fingerprint: textOf(row, "fingerprint"),
      created: row["created"] === "1", adopted: row["adopted"] === "1",
      replaced: row["replaced"] == null ? null : (JSON.parse(row["replaced"]) as DatabaseObject),
    }));
  }

  async put(session: Session, migration: string, object: CarriedObject): Promise<void> {
    await session.run(sql`REPLACE INTO ${this.table} (migration, kind, target_schema, name, fingerprint, created, adopted, replaced, created_at)
      VALUES (${id(migration)}, ${id(object.kind)}, ${text(object.schema)}, ${text(object.name)}, ${id(object.fingerprint)}, ${object.created ? 1 : 0}, ${object.adopted ? 1 : 0}, ${object.replaced === null ? text(null) : json(object.replaced)}, ${NOW})`);
  }

  async remove(session: Session, migration: string, object: Pick<CarriedObject, "kind" | "schema" | "name">): Promise<void> {
    await session.run(sql`DELETE FROM ${this.table} WHERE migration=${id(migration)} AND kind=${id(object.kind)} AND target_schema=${text(object.schema)} AND name=${text(object.name)}`);
  }
}
