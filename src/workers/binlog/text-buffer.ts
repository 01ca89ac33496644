/** A buffer up to this size is kept for the next transaction. */
const KEPT_BYTES = 1 << 20;

/** A byte buffer that grows as it is written to. Hot code writes into `bytes` by itself after `reserve`. */
export class TextBuffer {
  bytes: Buffer;
  /** Bytes written. */
  length = 0;
  private readonly initial: number;

  constructor(initial = 4096) {
    this.initial = initial;
    this.bytes = Buffer.allocUnsafeSlow(initial);
  }

  /** Makes room for `size` bytes more; `bytes` may be another buffer afterwards. */
  reserve(size: number): Buffer {
    const needed = this.length + size;
    if (needed > this.bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.bytes.length * 2));
      this.bytes.copy(grown, 0, 0, this.length);
      this.bytes = grown;
    }
    return this.bytes;
  }

  clear(): void {
    this.length = 0;
  }

  /** Gives back the memory that a huge value has made it take. */
  trim(): void {
    this.length = 0;
    if (this.bytes.length > KEPT_BYTES) this.bytes = Buffer.allocUnsafeSlow(this.initial);
  }

  byte(value: number): void {
    this.reserve(1)[this.length++] = value;
  }

  /** Text of ASCII characters. */
  ascii(text: string): void {
    this.length += this.reserve(text.length).write(text, this.length, "latin1");
  }

  copy(source: Buffer, start: number, end: number): void {
    this.length += source.copy(this.reserve(end - start), this.length, start, end);
  }
}
