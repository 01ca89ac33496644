/** With `--keep`: what runs, how to look at it by hand, how to end it. */

export interface KeepInput {
  boardUrl: string;
  /** Of the administrator, for looking around with any client. */
  source: string;
  target: string;
  /** What the workers were started with: the same settings command the same migration. */
  settings: Record<string, string>;
}

export function keepLines({ boardUrl, source, target, settings }: KeepInput): string[] {
  return [
    "",
    "Everything keeps running, and the application writes again, more slowly:",
    "",
    `  board    ${boardUrl} (Bull Board: ${new URL("queues", boardUrl).href})`,
    `  source   ${source}`,
    `  target   ${target}`,
    "",
    "Look at it from another terminal, in this folder:",
    "",
    ...Object.entries(settings).map(([name, value]) => `  export ${name}='${value}'`),
    "  npm run --silent drover -- status --watch",
    "  npm run --silent drover -- diff start shop --wait",
    "",
    `Ctrl-C here ends and removes everything (from elsewhere: kill ${process.pid}).`,
  ];
}
