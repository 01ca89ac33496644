import { describe, expect, it } from "vitest";
import { rowCells } from "../../../src/shared/columns/text-row.js";
import { DroverError } from "../../../src/shared/errors.js";
import { BinlogDecoder } from "../../../src/workers/binlog/binlog-decoder.js";
import { EVENT } from "../../../src/workers/binlog/event-types.js";
import type { BinlogHandler } from "../../../src/workers/binlog/events.js";
import { TYPE } from "../../../src/workers/binlog/type-codes.js";
import { event, formatDescription, gtid, image, query, rows, tableMap, text8, u16, u32, u64, u8, UUID, UUID_TEXT, xid } from "./event-builder.js";

const INT_AND_NAME = [
  { name: "id", type: TYPE.LONG, nullable: false },
  { name: "v", type: TYPE.VARCHAR, metadata: u16(100) },
];
const MAP = tableMap({ columns: INT_AND_NAME });
const insert = rows(EVENT.WRITE_ROWS, 2, [image(u32(1), text8("secret"))]);

class Log implements BinlogHandler {
  readonly lines: string[] = [];
  tables = 0;
  constructor(private readonly unwanted: string[] = []) {}
  begin({ gtid: name, committedAt }: { gtid: string; committedAt: number }): void {
    this.lines.push(`begin ${name.replace(UUID_TEXT, "U")} ${committedAt}`);
  }
  table({ table, columns }: { table: string; columns: { name: string }[] }) {
    this.tables += 1;
    if (this.unwanted.includes(table)) return null;
    return {
      columns: columns.map((_, i) => i),
      keyCells: [0],
      row: (before: string | null, after: string | null, row: Buffer | null) => {
        this.lines.push(`row ${before?.slice(1)} ${after?.slice(1)} ${row === null ? null : rowCells(row).map((cell) => cell?.toString("latin1") ?? null)}`);
      },
    };
  }
  statement({ sql, schema, clientCollation, sqlMode }: { sql: Buffer; schema: string; clientCollation: number; sqlMode: bigint }): void {
    this.lines.push(`statement ${schema} ${clientCollation} ${sqlMode} ${sql.toString()}`);
  }
  commit(): void {
    this.lines.push("commit");
  }
}

function decode(events: Buffer[], handler = new Log(), { description = formatDescription() } = {}): Log {
  const decoder = new BinlogDecoder(handler);
  for (const bytes of [description, ...events]) {
    // In the middle of other bytes, as packets are.
    const packet = Buffer.concat([Buffer.alloc(3, 0xee), bytes, Buffer.alloc(40, 0xee)]);
    if (decoder.event(packet, 3, 3 + bytes.length)) while (decoder.step());
  }
  return handler;
}

function failure(events: Buffer[], handler = new Log(), options = {}): DroverError {
  try {
    decode(events, handler, options);
  } catch (error) {
    expect(error).toBeInstanceOf(DroverError);
    expect(`${(error as DroverError).message} ${(error as DroverError).cure}`).not.toContain("secret");
    return error as DroverError;
  }
  throw new Error("no error");
}

describe("BinlogDecoder", () => {
  it("gives transactions in order; the handler is asked once for the same table map", () => {
    const update = rows(EVENT.UPDATE_ROWS, 2, [image(u32(1), text8("a")), image(u32(1), text8("b")), image(u32(1), text8("b")), image(u32(2), null)]);
    const transaction = [gtid(7), query("BEGIN"), MAP, insert, update, rows(EVENT.DELETE_ROWS, 2, [image(u32(2), null)]), xid()];
    const log = decode([...transaction, gtid(8), query("BEGIN"), MAP, insert, xid()]);
    expect(log.lines).toEqual([
      "begin U:7 1000000", "row undefined 1 1,secret", "row 1 1 1,b", "row 1 2 2,", "row 2 undefined null", "commit",
      "begin U:8 1000000", "row undefined 1 1,secret", "commit",
    ]);
    expect(log.tables).toBe(1);
  });

  it("does not look at places in the file, which wrap at 4 GiB (case 36)", () => {
    const transaction = (position: number) => [gtid(1, {}, { position }), query("BEGIN", {}, { position: (position + 80) >>> 0 }), tableMap({ columns: INT_AND_NAME }, { position: (position + 160) >>> 0 }),
      rows(EVENT.WRITE_ROWS, 2, [image(u32(1), text8("secret"))], {}, { position: (position + 240) >>> 0 }), xid({ position: (position + 271) >>> 0 })];
    expect(decode(transaction(0xffff_ff60)).lines).toEqual(decode(transaction(4)).lines);
    expect(decode(transaction(0xffff_ff60)).lines).toHaveLength(3);
  });

  it("asks again when the map of an id changes", () => {
    const other = tableMap({ table: "u", columns: INT_AND_NAME });
    const log = decode([gtid(1), query("BEGIN"), MAP, insert, xid(), gtid(2), query("BEGIN"), other, insert, xid(), gtid(3), query("BEGIN"), MAP, insert, xid()], new Log(["u"]));
    expect(log.tables).toBe(3);
    expect(log.lines.filter((line) => line.startsWith("row")).length).toBe(2);
  });

  it("takes the time of the first commit, in milliseconds", () => {
    const now = 1_700_000_000_123_456n;
    const log = decode([gtid(1, { immediate: now }), xid(), gtid(2, { immediate: now, original: 1_600_000_000_000_000n }), xid(), gtid(2n ** 63n - 1n), xid()]);
    expect(log.lines.filter((line) => line.startsWith("begin"))).toEqual(["begin U:1 1700000000123", "begin U:2 1600000000000", `begin U:${2n ** 63n - 1n} 1000000`]);
  });

  it("hands on statements alone and inside transactions; BEGIN, COMMIT, SAVEPOINT and XA frames are not handed on", () => {
    const log = decode([
      gtid(1), query("DROP TABLE x", { mode: 4n, collation: 8 }), gtid(2), query("BEGIN"), query("SAVEPOINT `a`"), query("UPDATE t SET v=1"), query("COMMIT"),
      gtid(3), query("XA START X'61',X'',1"), query("XA END X'61',X'',1"), event(EVENT.XA_PREPARE, Buffer.concat([u8(0), u32(1), u32(1), u32(0), Buffer.from("a")])),
      gtid(4), query("XA COMMIT X'61',X'',1"), gtid(5), query("CREATE TABLE `t` (`id` int) START TRANSACTION"), MAP, insert, xid(), gtid(6), query("begin"), query("rollback"),
    ]);
    expect(log.lines).toEqual([
      "begin U:1 1000000", "statement s 8 4 DROP TABLE x", "commit", "begin U:2 1000000", "statement s 255 0 UPDATE t SET v=1", "commit", "begin U:3 1000000", "commit", "begin U:4 1000000", "commit",
      "begin U:5 1000000", "statement s 255 0 CREATE TABLE `t` (`id` int) START TRANSACTION", "row undefined 1 1,secret", "commit", "begin U:6 1000000", "commit",
    ]);
  });

  it("hands on the text of LOAD DATA in statement format, and passes over what belongs to it", () => {
    const fixed = Buffer.concat([u32(9), u32(0), u8(1), u16(0), u16(0), u32(1), u32(2), u32(3), u8(0)]);
    const load = event(EVENT.EXECUTE_LOAD_QUERY, Buffer.concat([fixed, Buffer.from("s\0LOAD DATA INFILE 'x' INTO TABLE t")]));
    const log = decode([gtid(1), query("BEGIN"), event(EVENT.INTVAR, u64(1)), event(EVENT.BEGIN_LOAD_QUERY, u32(1)), load, xid()]);
    expect(log.lines).toEqual(["begin U:1 1000000", "statement s 33 0 LOAD DATA INFILE 'x' INTO TABLE t", "commit"]);
  });

  it("passes over what is not its own: heartbeats, rotations, previous GTIDs, ignorable events, tables that are not wanted", () => {
    const broken = tableMap({ id: 9, table: "other", columns: [{ name: "x", type: 222 }] });
    const log = decode(
      [
        event(EVENT.ROTATE, Buffer.alloc(20), { checksum: false }), event(EVENT.HEARTBEAT, Buffer.from("binlog.1")), event(EVENT.PREVIOUS_GTIDS, u64(0)), event(EVENT.STOP, u8()),
        gtid(1), query("BEGIN"), event(EVENT.ROWS_QUERY, Buffer.from("secret")), event(250, u8(1), { flags: 0x80 }), broken, rows(EVENT.WRITE_ROWS, 1, [image(u8(1))], { id: 9 }),
        rows(EVENT.PARTIAL_UPDATE_ROWS, 1, [u8(1, 2, 3)], { id: 9 }), xid(),
      ],
      new Log(["other"]),
    );
    expect(log.lines).toEqual(["begin U:1 1000000", "commit"]);
  });

  it("reads rows events with extra data, and of files without checksums", () => {
    const withExtra = rows(EVENT.WRITE_ROWS, 2, [image(u32(1), text8("a"))], { extraData: u8(1, 5, 9, 9, 9) });
    expect(decode([gtid(1), query("BEGIN"), MAP, withExtra, xid()]).lines[1]).toBe("row undefined 1 1,a");
    const plain = { checksum: false };
    const events = [gtid(1, {}, plain), query("BEGIN", {}, plain), tableMap({ columns: INT_AND_NAME }, plain), rows(EVENT.WRITE_ROWS, 2, [image(u32(1), text8("a"))], {}, plain), xid(plain)];
    expect(decode(events, new Log(), { description: formatDescription({ checksums: false }) }).lines[1]).toBe("row undefined 1 1,a");
  });

  it("reads rows events of the first version", () => {
    const body = Buffer.concat([u64(5).subarray(0, 6), u16(1), u8(2, 0xff), image(u32(1), text8("a"))]);
    expect(decode([gtid(1), query("BEGIN"), MAP, event(EVENT.WRITE_ROWS_V1, body), xid()]).lines[1]).toBe("row undefined 1 1,a");
  });

  describe("stops at", () => {
    const open = [gtid(3), query("BEGIN"), MAP];
    const xaPrepare = (onePhase: number) => event(EVENT.XA_PREPARE, Buffer.concat([u8(onePhase), u32(1), u32(1), u32(0), Buffer.from("a")]));
    const cases: [name: string, events: Buffer[], code: string, message: RegExp][] = [
      ["a rollback after rows of a followed table", [...open, insert, query("ROLLBACK")], "DDL_UNSUPPORTED", /ROLLBACK.*in transaction [0-9a-f-]+:3$/],
      ["a rollback to a savepoint after rows", [...open, insert, query("ROLLBACK TO `a`")], "DDL_UNSUPPORTED", /SAVEPOINT/],
      ["XA PREPARE after rows", [...open, insert, xaPrepare(0)], "DDL_UNSUPPORTED", /XA PREPARE/],
      ["an anonymous transaction", [event(EVENT.ANONYMOUS_GTID, Buffer.concat([u8(0), UUID, u64(0)]))], "UNDECODABLE", /without a GTID/],
      ["a statement without GTID", [query("DROP TABLE t")], "UNDECODABLE", /without a GTID/],
      ["an incident", [event(EVENT.INCIDENT, u16(1))], "UNDECODABLE", /LOST_EVENTS/],
      ["partial JSON of a followed table", [...open, rows(EVENT.PARTIAL_UPDATE_ROWS, 2, [u8(1)])], "UNDECODABLE", /s\.t .*partial update of JSON/],
      ["an unknown event", [gtid(3), event(99, u8(1))], "UNDECODABLE", /event type 99/],
      ["a column of unknown type of a followed table", [gtid(3), tableMap({ columns: [{ name: "id", type: TYPE.LONG }, { name: "x", type: 222 }] })], "UNDECODABLE", /column 2 of s\.t.*222/],
      ["a followed table without names", [gtid(3), tableMap({ columns: INT_AND_NAME, names: false })], "UNDECODABLE", /does not name the columns of s\.t/],
      ["a missing column in an image", [...open, rows(EVENT.WRITE_ROWS, 2, [image(u32(1))], { present: 1 })], "UNDECODABLE", /s\.t does not have the column v/],
      ["images without columns", [...open, rows(EVENT.DELETE_ROWS, 2, [u8(0)], { present: 0 })], "UNDECODABLE", /no columns/],
      ["rows of a table id that was not mapped", [gtid(3), query("BEGIN"), insert], "UNDECODABLE", /table id/],
      ["rows of a table id that another transaction mapped", [...open, insert, xid(), gtid(4), query("BEGIN"), insert], "UNDECODABLE", /table id/],
      ["a wrong number of columns", [...open, rows(EVENT.WRITE_ROWS, 3, [image(u32(1), null, null)])], "UNDECODABLE", /3 columns instead of 2/],
      ["a transaction that has no end", [...open, insert, gtid(4)], "UNDECODABLE", /no end/],
      ["a file that begins in a transaction", [...open, insert, formatDescription()], "UNDECODABLE", /no end/],
      ["a row image that ends too early", [...open, rows(EVENT.WRITE_ROWS, 2, [image(u32(1), u8(50, 1, 2))])], "UNDECODABLE", /ends too early/],
    ];
    it.each(cases)("%s", (_name, events, code, message) => {
      const log = new Log();
      const error = failure(events, log);
      expect(error.code).toBe(code);
      expect(error.message).toMatch(message);
      expect(error.cure).toBeTruthy();
      expect(log.lines.filter((line) => line === "commit").length).toBeLessThanOrEqual(1);
    });

    it("a value that is damaged, with the table, the column, the transaction and a cure", () => {
      const columns = [{ name: "id", type: TYPE.LONG }, { name: "doc", type: TYPE.JSON, metadata: u8(4) }, { name: "z", type: TYPE.MARIADB_BLOB_COMPRESSED, metadata: u8(1) }];
      const json = (...bytes: number[]) => Buffer.concat([u32(bytes.length), u8(...bytes)]);
      const stopped = (...cells: Buffer[]) => failure([gtid(3), query("BEGIN"), tableMap({ columns }), rows(EVENT.WRITE_ROWS, 3, [image(...cells)])]);
      for (const [error, column] of [[stopped(u32(1), json(13), u8(1, 0)), "doc"], [stopped(u32(1), json(0, 9, 0, 99, 0), u8(1, 0)), "doc"], [stopped(u32(1), json(4, 0), u8(3, 0x81, 5, 1)), "z"], [stopped(u32(1), json(4, 0), u8(2, 0x70, 1)), "z"]] as const) {
        expect(error).toMatchObject({ code: "UNDECODABLE", cure: expect.stringContaining("start the migration anew") });
        expect(error.message).toMatch(new RegExp(`^a row of s\\.t cannot be decoded at the column ${column}: .*damaged.*, in transaction [0-9a-f-]+:3$`));
      }
    });

    it("one-phase XA is no such case", () => {
      expect(decode([...open, insert, xaPrepare(1)]).lines.at(-1)).toBe("commit");
    });

    it("a wrong checksum, in short and in long events", () => {
      for (const bytes of [gtid(3), query(`DROP TABLE ${"x".repeat(1000)}`)]) {
        for (const at of [20, bytes.length - 1]) {
          const damaged = Buffer.from(bytes);
          damaged[at] = (damaged[at] as number) ^ 1;
          expect(failure([gtid(2), xid(), damaged]).message).toMatch(/checksum/);
        }
      }
    });

    it("a size that is not the packet's", () => {
      expect(failure([gtid(3).subarray(0, -1)]).message).toMatch(/size/);
    });

    it("formats that it does not know", () => {
      const refuse = (options: Parameters<typeof formatDescription>[0]) => failure([], new Log(), { description: formatDescription(options) }).message;
      expect(refuse({ binlogVersion: 3 })).toMatch(/format 3/);
      const fixed = Array.from({ length: 42 }, () => 0);
      fixed[EVENT.TABLE_MAP - 1] = 6;
      expect(refuse({ fixed })).toMatch(/type 19/);
    });
  });

  it("meets damaged events (without checksums) with an error or a value, never with anything else", () => {
    const plain = { checksum: false };
    const columns = [
      { name: "id", type: TYPE.LONG }, { name: "v", type: TYPE.VARCHAR, metadata: u16(1000) }, { name: "d", type: TYPE.NEWDECIMAL, metadata: u8(20, 5) },
      { name: "t", type: TYPE.DATETIME2, metadata: u8(6) }, { name: "j", type: TYPE.JSON, metadata: u8(4) }, { name: "b", type: TYPE.BLOB, metadata: u8(3) },
    ];
    // {"a": 1}
    const json = Buffer.from("0001000c000b00010005010061", "hex");
    const row = image(u32(5), Buffer.concat([u16(3), Buffer.from("abc")]), Buffer.alloc(10, 0x81), Buffer.alloc(8, 0x99), Buffer.concat([u32(json.length), json]), Buffer.concat([u8(2, 0, 0), Buffer.from("zz")]));
    const events = [gtid(1, {}, plain), query("BEGIN", {}, plain), tableMap({ columns }, plain), rows(EVENT.UPDATE_ROWS, 6, [row, row, row, row], {}, plain), xid(plain)];
    let seed = 1;
    const random = (limit: number) => (seed = (seed * 48271) % 2147483647) % limit;
    let refused = 0;
    for (let round = 0; round < 2_000; round++) {
      const damaged: Buffer[] = events.map((bytes) => Buffer.from(bytes));
      const victim = damaged[random(damaged.length)] as Buffer;
      for (let flips = 1 + random(3); flips > 0; flips--) victim[19 + random(victim.length - 19)] = random(256);
      try {
        decode(damaged, new Log(), { description: formatDescription({ checksums: false }) });
      } catch (error) {
        if (!(error instanceof DroverError)) throw error;
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(400);
  });
});
