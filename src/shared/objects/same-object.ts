/** Whether an object of the target is the one that would be created there. */
import type { Account, DatabaseObject } from "./database-object.js";
import { readObjectText, withReplacements } from "./object-text.js";
import { settingsOf } from "./object-settings.js";

/** @param wanted with the table and the definer that it will have on the target; no definer: whoever creates it, which does not count here */
export function sameObject(there: DatabaseObject, wanted: { object: DatabaseObject; table: string | null; definer: Account | null }): boolean {
  // A trigger of another table may have the same name and body. Servers may tell names of tables by case or not.
  if (there.table?.toLowerCase() !== wanted.table?.toLowerCase()) return false;
  if (essence(there) !== essence(wanted.object)) return false;
  const { definer } = readObjectText(there);
  return wanted.definer === null || (definer?.user === wanted.definer.user && definer.host === wanted.definer.host);
}

/** All but the definer, and but the place of a trigger's table, which may have another name. */
function essence(object: DatabaseObject): string {
  const { definerPlace, tablePlace } = readObjectText(object);
  return JSON.stringify([withReplacements(object.text, [{ at: definerPlace, by: "" }, { at: tablePlace, by: "" }]), settingsOf(object)]);
}
