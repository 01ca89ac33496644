/**
 * How many chunks of a process keep the servers busy at once. A chunk that waits (for the fence, for a changing row to come to
 * rest, for the source to calm down) lends its slot to another one, so that a follow that lags does not slow a diff down.
 */
export class Slots {
  private free: number;
  private readonly queue: (() => void)[] = [];

  constructor(count: number) {
    this.free = count;
  }

  /** Runs `work` in a slot. */
  async busy<T>(work: () => Promise<T>): Promise<T> {
    await this.take();
    try {
      return await work();
    } finally {
      this.give();
    }
  }

  /** Runs `wait` with the caller's slot lent to others. */
  async idle<T>(wait: () => Promise<T>): Promise<T> {
    this.give();
    try {
      return await wait();
    } finally {
      await this.take();
    }
  }

  private async take(): Promise<void> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve) => this.queue.push(resolve));
  }

  private give(): void {
    const next = this.queue.shift();
    if (next) next();
    else this.free += 1;
  }
}
