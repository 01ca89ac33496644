/** A statement that cannot be classified: what it does is not known, so the migration must stop. */
export class UnreadableStatement extends Error {
  override readonly name = "UnreadableStatement";
}
