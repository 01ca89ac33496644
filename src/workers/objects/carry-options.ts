import type { MigrationSpec } from "../../shared/contracts/spec.js";
import type { Session } from "../../shared/mysql/session.js";
import type { ObjectKind } from "../../shared/objects/database-object.js";

/** Which objects are carried, and how. */
export interface CarryOptions {
  spec: MigrationSpec;
  kinds: readonly ObjectKind[];
  /** Events do not act on the target yet. */
  disableEvents?: boolean;
  /** Asked under the lock: whether this is still to be done. */
  isDue(session: Session): Promise<boolean>;
}
