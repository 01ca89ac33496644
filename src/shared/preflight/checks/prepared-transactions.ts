/**
 * No XA transaction waits for its end on the source (case 40). The binlog has its rows where it was prepared; were that before
 * the start position and its COMMIT after it, they would be missed. The planner's start is later than this look, so this
 * is a hint in time, not the guard.
 */
import type { ByteSql } from "../../mysql/bytes.js";
import type { Check } from "../check.js";
import { failure } from "../finding.js";
import { atLeast } from "../server-version.js";

export const preparedTransactions: Check = {
  name: "prepared transactions",
  async run({ source, follows, onSource }) {
    if (source === null || !follows) return [];
    // From 8.0 on MySQL shows them only to who may end them; that is more than a migration's user should hold.
    const hidden = source.version.flavor === "mysql" && atLeast(source.version, 8) && !source.privileges.has("XA_RECOVER_ADMIN", "global");
    if (hidden) return [];
    const count = (await onSource((session) => session.rows("XA RECOVER" as ByteSql))).length;
    if (count === 0) return [];
    return [failure("xa-prepared", `${source.name}: ${count} XA transaction${count === 1 ? " is" : "s are"} prepared and not ended`, `on ${source.name} run: XA RECOVER; and XA COMMIT or XA ROLLBACK each of them`)];
  },
};
