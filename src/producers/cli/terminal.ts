/** Where the CLI writes: results to stdout, everything else to stderr; colours only on a terminal. */
import type { WriteStream } from "node:tty";
import { styleText } from "node:util";

export interface OutputStream {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
  rows?: number;
}

type Style = Parameters<typeof styleText>[0];
export type Paint = (style: Style, text: string) => string;

export interface Terminal {
  stdout: OutputStream;
  stderr: OutputStream;
  stdin: NodeJS.ReadableStream;
  environment: NodeJS.ProcessEnv;
}

export function processTerminal(): Terminal {
  return { stdout: process.stdout, stderr: process.stderr, stdin: process.stdin, environment: process.env };
}

/** Colours for one stream: none when it is no terminal, or when NO_COLOR asks for none; FORCE_COLOR decides over both, as for Node itself. */
export function painter(stream: OutputStream, environment: NodeJS.ProcessEnv): Paint {
  return wantsColours(stream, environment) ? (style, text) => styleText(style, text, { validateStream: false }) : (_style, text) => text;
}

function wantsColours(stream: OutputStream, environment: NodeJS.ProcessEnv): boolean {
  const forced = environment["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return stream.isTTY === true && (environment["NO_COLOR"] ?? "") === "" && ((stream as WriteStream).hasColors?.() ?? true);
}

/** Characters across and lines down. */
export interface Size {
  width: number;
  height: number;
}

/** The size to draw for. A terminal may not know its own (0), and a file has none: there nothing is cut or wrapped. */
export function sizeOf(stream: OutputStream): Size {
  return { width: stream.columns ? Math.max(20, stream.columns) : Infinity, height: stream.rows || Infinity };
}
