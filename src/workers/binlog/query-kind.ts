/** What a Query event means for its transaction. */
export type QueryKind =
  | "begin"
  | "commit"
  | "rollback"
  | "rollback to savepoint"
  /** `XA COMMIT` or `XA ROLLBACK`: a transaction of its own. The rows were in the one that ended with XA PREPARE. */
  | "xa end"
  /** Nothing that concerns rows: SAVEPOINT, RELEASE SAVEPOINT, XA END. */
  | "none"
  | "statement"
  | "statement with rows";

/**
 * Looks at a statement's text. The statements that frame transactions are written by the server itself in these spellings;
 * everything else is for the handler.
 */
export function classifyQuery(bytes: Buffer, at: number, end: number): QueryKind {
  const length = end - at;
  // The fast path: nearly all statements in a binlog are BEGIN.
  if (length === 5 && bytes[at] === 0x42 && bytes[at + 1] === 0x45 && bytes[at + 2] === 0x47 && bytes[at + 3] === 0x49 && bytes[at + 4] === 0x4e) {
    return "begin";
  }
  const head = bytes.toString("latin1", at, Math.min(end, at + 24)).toUpperCase();
  if (length === 6 && head === "COMMIT") return "commit";
  if (length === 8 && head === "ROLLBACK") return "rollback";
  if (length === 5 && head === "BEGIN") return "begin";
  if (head.startsWith("ROLLBACK TO ")) return "rollback to savepoint";
  if (head.startsWith("SAVEPOINT ") || head.startsWith("RELEASE SAVEPOINT ")) return "none";
  if (head.startsWith("XA ")) {
    if (head.startsWith("XA START ") || head.startsWith("XA BEGIN ")) return "begin";
    if (head.startsWith("XA END ")) return "none";
    if (head.startsWith("XA COMMIT ") || head.startsWith("XA ROLLBACK ")) return "xa end";
  }
  if (head.startsWith("CREATE ") && /\bSTART TRANSACTION\s*$/i.test(bytes.toString("latin1", Math.max(at, end - 40), end))) {
    return "statement with rows";
  }
  return "statement";
}
