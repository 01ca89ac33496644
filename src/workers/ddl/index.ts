/** DDL of the source: classified in the tail, executed by the applier. */
import { DroverError } from "../../shared/errors.js";
import type { StatementExecutor } from "../apply/statement-executor.js";
import type { EngineContext } from "../context.js";
import type { StatementPolicy } from "../tail/statements.js";

export function createStatementPolicy(): StatementPolicy {
  return {
    decide: (statement) =>
      /^\s*(create|drop)\s+(database|schema|user|role)|^\s*(grant|revoke|flush|analyze|set|savepoint|rollback)\b/i.test(statement.sql.toString("latin1"))
        ? { kind: "ignore" }
        : { kind: "ignore" },
  };
}

export function createStatementExecutor(_context: EngineContext): StatementExecutor {
  return {
    execute: () => Promise.reject(new DroverError("DDL_UNSUPPORTED", "statements are not executed yet")),
  };
}
