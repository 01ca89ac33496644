/** A block of text that is redrawn in place while something goes on; on what is no terminal nothing is drawn. */
import { createLogUpdate } from "log-update";
import { painter, sizeOf, type OutputStream, type Paint, type Size, type Terminal } from "./terminal.js";

export class LiveView {
  private readonly draw: ReturnType<typeof createLogUpdate> | undefined;
  private readonly stream: OutputStream;
  private readonly paint: Paint;

  /** Progress beside a result goes to stderr; a view that is itself the result to stdout. */
  constructor(terminal: Terminal, stream: "stdout" | "stderr") {
    this.stream = terminal[stream];
    this.paint = painter(this.stream, terminal.environment);
    // In a terminal without a size there is no place to draw in.
    this.draw = this.stream.isTTY === true && this.stream.rows !== 0 && this.stream.columns !== 0 ? createLogUpdate(this.stream as NodeJS.WriteStream) : undefined;
  }

  get isLive(): boolean {
    return this.draw !== undefined;
  }

  show(lines: (paint: Paint, size: Size) => readonly string[]): void {
    this.draw?.(lines(this.paint, sizeOf(this.stream)).join("\n"));
  }

  /** Takes the block away; the result follows in its place. */
  clear(): void {
    this.draw?.clear();
    this.draw?.done();
  }

  /** Leaves the block as it is. */
  keep(): void {
    this.draw?.done();
  }
}
