/** An answer that many may ask for, and that costs something: one look at a time, shared while it is fresh. */
export function remembered<T>(life: number, look: () => Promise<T>): () => Promise<T> {
  let latest: { value: Promise<T>; until: number } | undefined;
  return () => {
    if (latest !== undefined && Date.now() < latest.until) return latest.value;
    // Fresh from its end on: a look that takes long is not made twice at once.
    const mine = { value: look(), until: Infinity };
    latest = mine;
    const end = () => (mine.until = Date.now() + life);
    mine.value.then(end, end);
    return mine.value;
  };
}
