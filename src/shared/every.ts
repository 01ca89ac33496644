/**
 * Does `work` every `milliseconds` until the returned function is called. A turn is left out while the one before it is under
 * way: a server that hangs would otherwise get one more session with every turn. `work` handles its own errors.
 */
export function every(milliseconds: number, work: () => Promise<unknown>): () => void {
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    void work().catch(() => undefined).finally(() => (busy = false));
  }, milliseconds);
  timer.unref();
  return () => clearInterval(timer);
}
