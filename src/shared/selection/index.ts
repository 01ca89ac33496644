/** Which tables a migration moves. */
export { resolveTables } from "./resolve-tables.js";
export type { SelectedTable } from "./selected-table.js";
