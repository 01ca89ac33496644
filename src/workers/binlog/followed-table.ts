import { DecodeError } from "./decode-error.js";
import type { CellFormat, RowSink } from "./events.js";
import type { RowDecoder } from "./row-decoder.js";
import type { RowPlan } from "./row-ops.js";
import { planRow } from "./row-plan.js";
import type { TableMap } from "./table-map.js";
import { TYPE } from "./type-codes.js";

/** Undocumented but as old as Buffer itself, and half the cost of `toString("latin1", …)`: row keys are made by the hundred thousand. */
interface Latin1Slicer {
  latin1Slice(start: number, end: number): string;
}

/** The kinds of rows events. */
export type RowsKind = "write" | "update" | "delete";

/** A wanted table of the stream: how its rows are decoded and where they go. */
export class FollowedTable {
  readonly name: string;
  private readonly columnCount: number;
  private readonly columns: TableMap["columns"];
  private readonly rowPlan: RowPlan;
  private readonly keyPlan: RowPlan;
  /** Plans of images that lack columns, by their bitmap (`r` or `k` before it). */
  private readonly partialPlans = new Map<string, RowPlan>();
  /** The columns of the row key, in key order. */
  private readonly keyColumns: readonly number[];
  private readonly keyFormats: readonly (CellFormat | null)[];
  /** The cells of the key when they stand side by side in the row, so that the key is a slice of it. */
  private readonly keyRun: { first: number; last: number } | null;

  constructor(
    map: TableMap,
    private readonly sink: RowSink,
    /** Shared by all tables: one for rows and one for keys of before images. */
    private readonly rows: RowDecoder,
    private readonly keys: RowDecoder,
  ) {
    if (map.problem !== null) throw map.problem;
    this.name = `${map.schema}.${map.table}`;
    this.columnCount = map.columnCount;
    this.columns = map.columns;
    const { columns, keyCells, formats = [] } = sink;
    this.keyColumns = keyCells.map((cell) => columns[cell] as number);
    this.keyFormats = keyCells.map((cell) => formats[cell] ?? null);
    this.rowPlan = planRow(this.name, map.columns, null, columns, formats);
    this.keyPlan = planRow(this.name, map.columns, null, this.keyColumns, this.keyFormats);
    const first = keyCells[0] ?? 0;
    this.keyRun = keyCells.length > 0 && keyCells.every((cell, i) => cell === first + i) ? { first, last: first + keyCells.length } : null;
  }

  /** Names of its JSON columns, for messages. */
  get jsonColumns(): string {
    return this.columns.flatMap(({ name, type }) => (type === TYPE.JSON ? [name] : [])).join(", ");
  }

  /**
   * Decodes the rows of one rows event: `at` is behind the fixed part and the extra data, at the number of columns.
   * The sink is called once per row.
   */
  decode(kind: RowsKind, bytes: Buffer, at: number, end: number): void {
    let count = bytes[at++] as number;
    if (count >= 251) {
      // Tables have at most 4096 columns.
      if (count !== 0xfc) throw new DecodeError(`a rows event of ${this.name} is damaged`);
      count = bytes.readUInt16LE(at);
      at += 2;
    }
    if (count !== this.columnCount) throw new DecodeError(`a rows event of ${this.name} has ${count} columns instead of ${this.columnCount}`);
    const bitmapSize = (count + 7) >> 3;
    const sink = this.sink;
    if (kind === "delete") {
      const plan = this.planFor("k", bytes, at, this.keyPlan);
      at += bitmapSize;
      while (at < end) {
        at = this.image(this.keys, plan, bytes, at, end);
        sink.row(this.decodedKey(plan), null, null);
      }
      return;
    }
    if (kind === "write") {
      const plan = this.planFor("r", bytes, at, this.rowPlan);
      at += bitmapSize;
      while (at < end) {
        at = this.image(this.rows, plan, bytes, at, end);
        sink.row(null, this.rowKey(), this.rows.view(plan));
      }
      return;
    }
    const before = this.planFor("k", bytes, at, this.keyPlan);
    const after = this.planFor("r", bytes, at + bitmapSize, this.rowPlan);
    at += 2 * bitmapSize;
    while (at < end) {
      at = this.image(this.keys, before, bytes, at, end);
      const beforeKey = this.decodedKey(before);
      at = this.image(this.rows, after, bytes, at, end);
      const afterKey = this.keyUnchanged(before) ? beforeKey : this.rowKey();
      sink.row(beforeKey, afterKey, this.rows.view(after));
    }
  }

  /** Decodes one image; an error says at which column. */
  private image(decoder: RowDecoder, plan: RowPlan, bytes: Buffer, at: number, end: number): number {
    try {
      return decoder.decode(plan, bytes, at, end);
    } catch (error) {
      // Reads beyond the buffer: the event is shorter than its content says.
      const problem = error instanceof RangeError ? new DecodeError("a row image ends too early") : error;
      if (!(problem instanceof DecodeError)) throw error;
      const column = this.columns[plan.present?.[decoder.column] ?? decoder.column]?.name;
      throw new DecodeError(`a row of ${this.name} cannot be decoded at the column ${column}: ${problem.message}`, problem.cure, problem.code);
    }
  }

  /** The plan for images with the columns of the bitmap at `at`. */
  private planFor(use: "k" | "r", bytes: Buffer, at: number, full: RowPlan): RowPlan {
    const count = this.columnCount;
    let ones = 0;
    for (let i = 0; i < count; i++) ones += ((bytes[at + (i >> 3)] as number) >> (i & 7)) & 1;
    if (ones === count) return full;
    const size = (count + 7) >> 3;
    const bitmap = use + bytes.toString("latin1", at, at + size);
    let plan = this.partialPlans.get(bitmap);
    if (plan === undefined) {
      const present = this.columns.flatMap((_, i) => ((((bytes[at + (i >> 3)] as number) >> (i & 7)) & 1) === 1 ? [i] : []));
      plan =
        use === "k"
          ? planRow(this.name, this.columns, present, this.keyColumns, this.keyFormats)
          : planRow(this.name, this.columns, present, this.sink.columns, this.sink.formats);
      this.partialPlans.set(bitmap, plan);
    }
    return plan;
  }

  /** The key that `keys` has just decoded. */
  private decodedKey(plan: RowPlan): string {
    const { row, cellStarts } = this.keys;
    return (row as unknown as Latin1Slicer).latin1Slice(0, cellStarts[plan.cells] as number);
  }

  /** The key of the row that `rows` has just decoded. */
  private rowKey(): string {
    const { row, cellStarts } = this.rows;
    const slicer = row as unknown as Latin1Slicer;
    if (this.keyRun !== null) return slicer.latin1Slice(cellStarts[this.keyRun.first] as number, cellStarts[this.keyRun.last] as number);
    let key = "";
    for (const cell of this.sink.keyCells) key += slicer.latin1Slice(cellStarts[cell] as number, cellStarts[cell + 1] as number);
    return key;
  }

  /** Whether the before image's key is also the key of the row that `rows` has just decoded. */
  private keyUnchanged(plan: RowPlan): boolean {
    if (this.keyRun === null) return false;
    const start = this.rows.cellStarts[this.keyRun.first] as number;
    const length = this.keys.cellStarts[plan.cells] as number;
    if ((this.rows.cellStarts[this.keyRun.last] as number) - start !== length) return false;
    const before = this.keys.row;
    const after = this.rows.row;
    for (let i = 0; i < length; i++) if (before[i] !== after[start + i]) return false;
    return true;
  }
}
