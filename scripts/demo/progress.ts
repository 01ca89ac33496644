/**
 * What the demo shows while it runs, on stderr: on a terminal a block of bars that is redrawn, elsewhere a plain line
 * when a step begins, every second or two, and when it ends.
 */
import { createLogUpdate } from "log-update";

import { progressBar } from "../../src/producers/cli/format/progress-bar.js";
import { painter, type Paint } from "../../src/producers/cli/terminal.js";

const REDRAW = 120;
const PLAIN_PAUSE = 2_000;
const BAR_WIDTH = 24;

export interface Line {
  name: string;
  /** 0 to 1. */
  share: number;
  text: string;
}

interface Step {
  name: string;
  startedAt: number | undefined;
  endedAt: number | undefined;
  text: string;
  share: number | undefined;
  lines: readonly Line[];
  notes: string[];
}

export class Progress implements Disposable {
  readonly #stream: NodeJS.WriteStream;
  readonly #paint: Paint;
  readonly #draw: ReturnType<typeof createLogUpdate> | undefined;
  readonly #steps: Step[];
  readonly #startedAt = performance.now();
  /** A line about what goes on beside the steps; empty for none. */
  footer: () => string = () => "";
  readonly #timer: NodeJS.Timeout;
  #current: Step | undefined;
  #closed = false;
  #plainAt = 0;
  #plainText = "";

  constructor(options: { stream: NodeJS.WriteStream; steps: readonly string[] }) {
    this.#stream = options.stream;
    this.#paint = painter(options.stream, process.env);
    this.#draw = options.stream.isTTY ? createLogUpdate(options.stream) : undefined;
    this.#steps = options.steps.map((name) => ({ name, startedAt: undefined, endedAt: undefined, text: "", share: undefined, lines: [], notes: [] }));
    this.#timer = setInterval(() => this.#tick(), REDRAW);
  }

  /** Seconds since the start. */
  get seconds(): number {
    return (performance.now() - this.#startedAt) / 1000;
  }

  /** Ends the step before. */
  begin(name: string): void {
    this.end();
    this.#current = this.#steps.find((step) => step.name === name);
    if (this.#current === undefined) throw new Error(`no step ${name}`);
    this.#current.startedAt = performance.now();
  }

  /** How far the step is, and in words. */
  show(text: string, share?: number, lines: readonly Line[] = []): void {
    if (this.#current === undefined) return;
    Object.assign(this.#current, { text, share, lines });
  }

  /** @returns the step's seconds */
  end(text?: string): number {
    const step = this.#current;
    if (step?.startedAt === undefined) return 0;
    if (text !== undefined) step.text = text;
    step.endedAt = performance.now();
    step.lines = [];
    this.#current = undefined;
    const seconds = (step.endedAt - step.startedAt) / 1000;
    if (this.#draw === undefined) this.#writePlain(`${step.name} done in ${seconds.toFixed(1)} s${step.text === "" ? "" : `: ${step.text}`}`);
    return seconds;
  }

  /** A line under the step that stays. */
  note(text: string): void {
    this.#current?.notes.push(text);
    if (this.#draw === undefined) this.#writePlain(text);
  }

  /** Leaves the last picture as it is. */
  close(): void {
    clearInterval(this.#timer);
    if (this.#draw === undefined || this.#closed) return;
    this.#closed = true;
    this.#draw(this.#picture().join("\n"));
    this.#draw.done();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #tick(): void {
    if (this.#draw !== undefined) return this.#draw(this.#picture().join("\n"));
    const step = this.#current;
    if (step === undefined || performance.now() - this.#plainAt < PLAIN_PAUSE) return;
    const share = step.share === undefined ? "" : ` ${Math.floor(step.share * 100)} %`;
    const footer = this.footer();
    const text = `${step.name}${share}${step.text === "" ? "" : `: ${step.text}`}${footer === "" ? "" : ` | ${footer}`}`;
    if (text !== this.#plainText) this.#writePlain(text);
    this.#plainText = text;
  }

  #writePlain(text: string): void {
    this.#plainAt = performance.now();
    this.#stream.write(`${this.seconds.toFixed(1).padStart(6)} s  ${text}\n`);
  }

  #picture(): string[] {
    const lines: string[] = [];
    for (const step of this.#steps) {
      if (step.startedAt === undefined) lines.push(this.#paint("dim", `  · ${step.name}`));
      else lines.push(this.#stepLine(step, step.startedAt), ...step.notes.map((note) => `      ${this.#paint("yellow", note)}`), ...step.lines.map((line) => this.#tableLine(line)));
    }
    const footer = this.footer();
    return footer === "" ? lines : [...lines, "", `  ${this.#paint("dim", footer)}`];
  }

  #stepLine(step: Step, startedAt: number): string {
    const seconds = ((step.endedAt ?? performance.now()) - startedAt) / 1000;
    const mark = step.endedAt === undefined ? this.#paint("cyan", "▸") : this.#paint("green", "✓");
    const bar = step.endedAt !== undefined || step.share === undefined ? "" : `${this.#paint("cyan", progressBar(step.share, BAR_WIDTH))} `;
    return `  ${mark} ${step.name.padEnd(11)}${`${seconds.toFixed(1)} s`.padStart(8)}  ${bar}${step.text}`;
  }

  #tableLine(line: Line): string {
    const colour = line.share >= 1 ? "green" : "cyan";
    return `      ${line.name.padEnd(19)}${this.#paint(colour, progressBar(line.share, BAR_WIDTH))} ${line.text}`;
  }
}
