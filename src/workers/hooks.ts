/** The points where a crash hurts. Tests pass hooks that stop, kill or delay a worker exactly there; in service they do nothing. */

export type HookPoint =
  | "chunk:before-read"
  | "chunk:before-select"
  | "chunk:after-read"
  | "chunk:after-clear"
  | "chunk:before-commit"
  | "chunk:after-commit"
  | "batch:before-enqueue"
  | "batch:after-enqueue"
  | "batch:before-apply"
  | "batch:before-commit"
  | "batch:after-commit"
  | "ddl:before-execute"
  | "ddl:before-fence"
  | "table:before-create"
  | "table:after-create"
  | "index:before-build"
  | "object:before-create"
  | "object:after-create"
  | "cutover:step"
  | "cutover:after-step"
  | "cutover:undo"
  | "diff:before-turn"
  | "diff:before-repair"
  | "diff:before-record"
  | "diff:after-record";

export interface Hooks {
  at(point: HookPoint, detail: Record<string, string | number>): Promise<void>;
}

export const noHooks: Hooks = { at: () => Promise.resolve() };
