/**
 * Servers by hand: `npx tsx scripts/servers/main.ts [--mysql NAMES] [--mariadb NAMES] [--redis] [--exports]`; stays until told to end.
 * Without names there are SRC and DST. `--exports` prints lines for a shell, for `npm run servers`.
 */
import { parseArgs } from "node:util";

import { openServers } from "./index.js";

const { values } = parseArgs({
  options: { mysql: { type: "string" }, mariadb: { type: "string" }, redis: { type: "boolean", default: false }, exports: { type: "boolean", default: false } },
});
const isBare = values.mysql === undefined && values.mariadb === undefined;
const names = (list: string | undefined): string[] => (list ?? "").split(",").filter((name) => name !== "");

await using servers = await openServers({ log: (line) => console.error(line) });

const parent = process.ppid;
const told = new Promise<void>((resolve) => {
  // npx and tsx run this as their child; when one of them is killed -9, nobody is left to tell it
  const watch = setInterval(() => {
    if (process.ppid !== parent) end();
  }, 500);
  const end = (): void => {
    clearInterval(watch);
    resolve();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, end);
});

const mysqls = await Promise.all([
  ...names(isBare ? "SRC,DST" : values.mysql).map((name) => servers.mysql({ name })),
  ...names(values.mariadb).map((name) => servers.mysql({ name, flavor: "mariadb" })),
]);
const redis = values.redis ? await servers.redis() : undefined;
const json = (): string =>
  JSON.stringify({
    // to end them: kill this one. A signal sent to npx alone does not arrive here
    pid: process.pid,
    how: servers.how,
    mysql: Object.fromEntries(mysqls.map(({ name, url, version, pid, dataDir }) => [name, { url, version, pid, dataDir }])),
    ...(redis && { redis: { url: redis.url, pid: redis.pid } }),
  });
const exports = (): string =>
  [
    ...(redis ? [`export DROVER_REDIS_URL=${redis.url}`] : []),
    ...mysqls.map(({ name, url }) => `export DROVER_CONNECTION_${name.toUpperCase()}='${url}'`),
    "alias drover='npm run --silent drover --'",
  ].join("\n");
console.log(values.exports ? exports() : json());
if (values.exports) console.error(`These servers (${mysqls.map(({ name, version }) => `${name}: ${version}`).join(", ")}) stay until Ctrl-C, and leave nothing behind. Paste the lines above into another terminal.`);
await told;
