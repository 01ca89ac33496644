/** Servers by hand: `npx tsx scripts/servers/main.ts --mysql src,dst [--mariadb NAMES] [--redis]`; stays until told to end. */
import { parseArgs } from "node:util";

import { openServers } from "./index.js";

const { values } = parseArgs({
  options: { mysql: { type: "string" }, mariadb: { type: "string" }, redis: { type: "boolean", default: false } },
});
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
  ...names(values.mysql).map((name) => servers.mysql({ name })),
  ...names(values.mariadb).map((name) => servers.mysql({ name, flavor: "mariadb" })),
]);
const redis = values.redis ? await servers.redis() : undefined;
console.log(
  JSON.stringify({
    // to end them: kill this one. A signal sent to npx alone does not arrive here
    pid: process.pid,
    how: servers.how,
    mysql: Object.fromEntries(mysqls.map(({ name, url, version, pid, dataDir }) => [name, { url, version, pid, dataDir }])),
    ...(redis && { redis: { url: redis.url, pid: redis.pid } }),
  }),
);
await told;
