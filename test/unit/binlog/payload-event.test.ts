import { createHash } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { EVENT } from "../../../src/workers/binlog/event-types.js";
import { PayloadReader } from "../../../src/workers/binlog/payload-event.js";
import { loadZstd } from "../../../src/workers/binlog/zstd.js";
import { event, u32, u8, xid } from "./event-builder.js";

beforeAll(loadZstd);

/** A zstd frame of raw blocks: valid, and needs no compressor. */
function frame(data: Buffer, blockSize = 1000): Buffer {
  const blocks: Buffer[] = [];
  for (let at = 0; at < data.length || at === 0; at += blockSize) {
    const block = data.subarray(at, at + blockSize);
    const header = (block.length << 3) | (at + blockSize >= data.length ? 1 : 0);
    blocks.push(u32(header).subarray(0, 3), block);
  }
  // Magic, a descriptor without content size, a window of 2 MiB.
  return Buffer.concat([u32(0xfd2fb528), u8(0, 11 << 3), ...blocks]);
}

function payload(data: Buffer, compression: number): Buffer {
  const length = u32(data.length);
  return event(EVENT.TRANSACTION_PAYLOAD, Buffer.concat([u8(2, ...(compression < 251 ? [1, compression] : [3, 0xfc, compression, 0])), u8(1, 4, 0xfd), length.subarray(0, 3), u8(0), data]), { checksum: false });
}

function read(bytes: Buffer): Buffer[] {
  const events: Buffer[] = [];
  const reader = new PayloadReader(bytes, 0, bytes.length, (inner, start, end) => events.push(Buffer.from(inner.subarray(start, end))));
  while (reader.step());
  return events;
}

const inner = [xid({ checksum: false }), event(EVENT.ROWS_QUERY, Buffer.alloc(300_000, 1), { checksum: false }), ...Array.from({ length: 500 }, (_, i) => event(EVENT.ROWS_QUERY, Buffer.alloc(i, i), { checksum: false }))];

/** Not `toEqual` on all the buffers, which takes seconds for this many bytes. */
const digest = (events: Buffer[]) => ({ lengths: events.map(({ length }) => length), sha: createHash("sha256").update(Buffer.concat(events)).digest("hex") });

describe("TRANSACTION_PAYLOAD", () => {
  it.each([[0, "zstd"], [255, "no compression"]])("%i (%s): every event, whole", (compression) => {
    const data = Buffer.concat(inner);
    expect(digest(read(payload(compression === 0 ? frame(data) : data, compression)))).toEqual(digest(inner));
  });

  it("of several frames", () => {
    expect(digest(read(payload(Buffer.concat(inner.map((bytes) => frame(bytes))), 0)))).toEqual(digest(inner));
  });

  it("damaged, cut, or of an unknown algorithm: an error, and never an endless loop", () => {
    const data = frame(Buffer.concat(inner.slice(0, 1)));
    expect(() => read(payload(data.subarray(0, -3), 0))).toThrow(/damaged|middle/);
    expect(() => read(payload(frame(inner[0]?.subarray(0, 20) ?? data), 0))).toThrow(/middle of an event/);
    for (let at = 0; at < 9; at++) {
      const broken = Buffer.from(data);
      broken[at] = (broken[at] as number) ^ 0xff;
      expect(() => read(payload(broken, 0))).toThrow(/damaged|middle|ends|length/);
    }
    expect(() => read(payload(data, 7))).toThrow(/algorithm 7/);
    expect(() => read(payload(Buffer.alloc(30), 255))).toThrow(/damaged/);
  });

  it("can be left in the middle", () => {
    const bytes = payload(frame(Buffer.concat(inner)), 0);
    const events: number[] = [];
    const reader = new PayloadReader(bytes, 0, bytes.length, (_, start, end) => events.push(end - start));
    reader.step();
    reader.step();
    reader.close();
    expect(events.length).toBeLessThan(inner.length);
  });
});
