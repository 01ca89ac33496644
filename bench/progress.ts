/** What people read meanwhile; figures go to stdout. */
const begin = Date.now();

export function progress(line: string): void {
  console.error(`[${((Date.now() - begin) / 1000).toFixed(1).padStart(6)} s] ${line}`);
}
