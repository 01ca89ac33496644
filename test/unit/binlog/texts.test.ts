/** The writers of cells, at their edges; against a real server they are compared in test/integration/binlog-types.test.ts. */
import { crc32 } from "node:zlib";
import { describe, expect, it } from "vitest";
import { shortCrc32 } from "../../../src/workers/binlog/checksum.js";
import { decimalSize, writeDecimal } from "../../../src/workers/binlog/decimal-text.js";
import { doubleText } from "../../../src/workers/binlog/double-text.js";
import { writePadded, writeSigned32, writeSigned64, writeUnsigned32, writeUnsigned64 } from "../../../src/workers/binlog/integer-text.js";
import { TimestampWriter, writeDate, writeDatetime2, writeOldDatetime, writeOldTime, writeTime2 } from "../../../src/workers/binlog/temporal-text.js";
import { u32, u64 } from "./event-builder.js";

function written(write: (out: Buffer, at: number) => number): string {
  const out = Buffer.alloc(100, 0xee);
  const end = write(out, 1);
  expect(out[0]).toBe(0xee);
  return out.toString("latin1", 1, end);
}

const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(" ", ""), "hex");

describe("integers", () => {
  it("of 64 bits, at and around every power of two and ten", () => {
    const values = [0n];
    for (let i = 0n; i < 64n; i++) values.push((1n << i) - 1n, 1n << i, (1n << i) + 1n);
    for (let i = 1n; i < 20n; i++) values.push(10n ** i - 1n, 10n ** i, 10n ** i + 1n);
    for (const value of values) {
      const unsigned = BigInt.asUintN(64, value);
      const [high, low] = [Number(unsigned >> 32n), Number(unsigned & 0xffffffffn)];
      expect(written((out, at) => writeUnsigned64(out, at, high, low))).toBe(String(unsigned));
      expect(written((out, at) => writeSigned64(out, at, high, low))).toBe(String(BigInt.asIntN(64, value)));
      const negative = BigInt.asUintN(64, -value);
      expect(written((out, at) => writeSigned64(out, at, Number(negative >> 32n), Number(negative & 0xffffffffn)))).toBe(String(BigInt.asIntN(64, -value)));
      expect(written((out, at) => writeUnsigned32(out, at, low))).toBe(String(low));
      expect(written((out, at) => writeSigned32(out, at, low | 0))).toBe(String(low | 0));
    }
  });

  it("with leading zeros", () => {
    expect(written((out, at) => writePadded(out, at, 7, 9))).toBe("000000007");
    expect(written((out, at) => writePadded(out, at, 123456789, 9))).toBe("123456789");
    expect(written((out, at) => writePadded(out, at, 5, 1))).toBe("5");
  });
});

describe("DECIMAL", () => {
  // The example of strings/decimal.cc: 1234567890.1234 of DECIMAL(14,4).
  it.each([
    ["81 0D FB 38 D2 04 D2", 14, 4, "1234567890.1234"],
    ["7E F2 04 C7 2D FB 2D", 14, 4, "-1234567890.1234"],
    ["80 00 00 00 00 00 00", 14, 4, "0.0000"],
    ["80", 1, 0, "0"],
    ["76", 1, 0, "-9"],
    ["85", 1, 1, "0.5"],
  ])("%s", (hex, precision, scale, text) => {
    expect(decimalSize(precision, scale)).toBe(bytes(hex).length);
    expect(written((out, at) => writeDecimal(out, at, bytes(hex), 0, precision, scale))).toBe(text);
  });
});

describe("DOUBLE", () => {
  it.each([
    [0, "0"], [-0, "-0"], [1.5, "1.5"], [1e14, "100000000000000"], [1e15, "1e15"], [1e20, "1e20"], [123456789012345680, "1.2345678901234568e17"], [1234567890123456.8, "1234567890123456.8"],
    [1e-7, "0.0000001"], [1.25e-15, "0.00000000000000125"], [1e-15, "0.000000000000001"], [1e-16, "1e-16"], [-2.5e-300, "-2.5e-300"], [5e-324, "5e-324"], [1.7976931348623157e308, "1.7976931348623157e308"],
  ])("%d", (value, text) => {
    expect(doubleText(value)).toBe(text);
  });
});

describe("temporal types", () => {
  it("DATE", () => {
    expect(written((out, at) => writeDate(out, at, bytes("000000"), 0))).toBe("0000-00-00");
    expect(written((out, at) => writeDate(out, at, bytes("0fce0f"), 0))).toBe("2023-00-15");
  });

  it("TIME with fractions of either sign", () => {
    expect(written((out, at) => writeTime2(out, at, bytes("800000"), 0, 0))).toBe("00:00:00");
    expect(written((out, at) => writeTime2(out, at, bytes("7fffff ec"), 0, 2))).toBe("-00:00:00.20");
    expect(written((out, at) => writeTime2(out, at, bytes("7fffff ffffff"), 0, 6))).toBe("-00:00:00.000001");
    expect(written((out, at) => writeTime2(out, at, bytes("7fffff 000000"), 0, 6))).toBe("-00:00:01.000000");
    expect(written((out, at) => writeTime2(out, at, bytes("b46efb"), 0, 0))).toBe("838:59:59");
  });

  it("DATETIME", () => {
    expect(written((out, at) => writeDatetime2(out, at, bytes("8000000000"), 0, 0))).toBe("0000-00-00 00:00:00");
    expect(written((out, at) => writeDatetime2(out, at, bytes("9926420000 0f423f"), 0, 6))).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.999999$/);
  });

  it("TIMESTAMP in UTC, over days", () => {
    const writer = new TimestampWriter();
    const text = (seconds: number, digits = 0, fraction = "") => written((out, at) => writer.write2(out, at, bytes(seconds.toString(16).padStart(8, "0") + fraction), 0, digits));
    expect(text(0)).toBe("0000-00-00 00:00:00");
    expect(text(0, 2, "01")).toBe("1970-01-01 00:00:00.01");
    expect(text(1709251199)).toBe("2024-02-29 23:59:59");
    expect(text(1709251200, 4, "04d2")).toBe("2024-03-01 00:00:00.1234");
    expect(text(0xffffffff)).toBe("2106-02-07 06:28:15");
  });

  it("the forms of before 5.6.4", () => {
    const writer = new TimestampWriter();
    expect(written((out, at) => writer.writeOld(out, at, u32(1709251199), 0))).toBe("2024-02-29 23:59:59");
    expect(written((out, at) => writer.writeOld(out, at, u32(0), 0))).toBe("0000-00-00 00:00:00");
    const time = (value: number) => written((out, at) => writeOldTime(out, at, u64(value), 0));
    expect([time(0), time(8385959), time(-8385959), time(-1)]).toEqual(["00:00:00", "838:59:59", "-838:59:59", "-00:00:01"]);
    const datetime = (value: bigint) => written((out, at) => writeOldDatetime(out, at, u64(value), 0));
    expect([datetime(0n), datetime(20240229235958n), datetime(20230015010203n), datetime(99991231235959n)]).toEqual(["0000-00-00 00:00:00", "2024-02-29 23:59:58", "2023-00-15 01:02:03", "9999-12-31 23:59:59"]);
  });
});

describe("checksums of short events", () => {
  it("are zlib's", () => {
    const data = Buffer.from(Array.from({ length: 300 }, (_, i) => (i * 77) % 256));
    for (let length = 0; length < 300; length++) expect(shortCrc32(data, 0, length)).toBe(crc32(data.subarray(0, length)) | 0);
  });
});
