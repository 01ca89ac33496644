/** Real servers for the demo, the tests, the bench and the fault runner, on a machine that may have none. */
export { debianPackage } from "./debian/package.js";
export type { DebianPackage, DebianPackageOptions } from "./debian/package.js";
export { openServers } from "./open.js";
export type { Flavor, MysqlOptions, MysqlServer, RedisOptions, RedisServer, ServerConfig, Servers } from "./server.js";
