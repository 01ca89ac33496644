/** Who counts sessions and statements; nothing of their text or values is told. */
import type { SessionRole } from "./open-session.js";

/** `load`: LOAD DATA LOCAL. */
export type StatementKind = "read" | "write" | "load";

export interface SessionObserver {
  sessionOpened(role: SessionRole): void;
  statementEnded(role: SessionRole, kind: StatementKind, milliseconds: number, failed: boolean): void;
}
