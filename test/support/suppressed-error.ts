/**
 * When a test fails and then closing its context fails too, JavaScript throws a SuppressedError over both, which Node 20
 * lacks and whose stand-in has no message. This one lets vitest show the test's own error, with its diff.
 */
class SuppressedError extends Error {
  override readonly name = "SuppressedError";
  constructor(
    readonly error: unknown,
    suppressed: unknown,
  ) {
    const closing = error instanceof Error ? error.message : String(error);
    super(`the test failed (see below), and closing what it opened failed as well: ${closing}`, { cause: suppressed });
  }
}

Object.assign(globalThis, { SuppressedError });
