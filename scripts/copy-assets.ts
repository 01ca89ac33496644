/** The build's last step: files beside the sources that the compiler does not carry over (the board's page). */
import { cpSync } from "node:fs";

const FOLDERS = ["producers/board/assets"];

for (const folder of FOLDERS) cpSync(new URL(`../src/${folder}`, import.meta.url), new URL(`../dist/${folder}`, import.meta.url), { recursive: true });
