/** DDL of the source: classified in the tail, executed by the applier. docs/ddl.md tells what is followed. */
export { createStatementExecutor } from "./statement-executor.js";
export { createStatementPolicy } from "./statement-policy.js";
