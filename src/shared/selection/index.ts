/** Which tables a migration moves. */
export { resolveTables } from "./resolve-tables.js";
