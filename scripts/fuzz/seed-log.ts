/** What a seed ran on the source, with times and the source's answers: to read, and to run again by hand. */
import { createWriteStream, type WriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { once } from "node:events";

export class SeedLog {
  private readonly file: WriteStream | null;
  private readonly path: string | null;

  /** @param path null: nothing is written */
  constructor(path: string | null) {
    this.path = path;
    this.file = path === null ? null : createWriteStream(path);
  }

  /** @param writer who ran it */
  statement(writer: string, statement: string, failure: { errno?: number; message: string } | null): void {
    this.line(`-- ${writer}\n${failure === null ? "" : `-- refused, ${failure.errno}: ${failure.message.slice(0, 200).replaceAll("\n", " ")}\n-- `}${statement.replaceAll("\n", failure === null ? "\n" : " ")};`);
  }

  note(text: string): void {
    this.line(`-- ${text.replaceAll("\n", "\n-- ")}`);
  }

  async close(keep: boolean): Promise<void> {
    if (this.file === null || this.path === null) return;
    this.file.end();
    await once(this.file, "close");
    if (!keep) await rm(this.path);
  }

  private line(text: string): void {
    this.file?.write(`-- ${new Date().toISOString()}\n${text}\n`);
  }
}
