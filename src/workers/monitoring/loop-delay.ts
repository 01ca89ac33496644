/** How late this process's event loop was of late. A loop that is late for longer than a job's lock lives loses its jobs to others. */

/** milliseconds */
const TICK = 500;
/** The worst of one or two of these (milliseconds) counts. */
const WINDOW = 10_000;

export class LoopDelay {
  private readonly timer: NodeJS.Timeout;
  private expected = performance.now() + TICK;
  private windowEnd = performance.now() + WINDOW;
  private current = 0;
  private previous = 0;

  constructor() {
    this.timer = setInterval(() => this.tick(), TICK);
    this.timer.unref();
  }

  /** The longest delay of the last 10 to 20 s, in milliseconds. */
  get worst(): number {
    return Math.max(this.current, this.previous, performance.now() - this.expected);
  }

  close(): void {
    clearInterval(this.timer);
  }

  private tick(): void {
    const now = performance.now();
    this.current = Math.max(this.current, now - this.expected);
    this.expected = now + TICK;
    if (now < this.windowEnd) return;
    this.previous = this.current;
    this.current = 0;
    this.windowEnd = now + WINDOW;
  }
}
