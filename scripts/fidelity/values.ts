/**
 * Boundary values of the types that both families of servers have: per type SQL expressions, to be stored by INSERT IGNORE
 * under an empty sql_mode. What the server makes of an expression does not matter here: it is what must arrive.
 */

export interface TypeValues {
  /** As in a column's definition. */
  type: string;
  values: readonly string[];
}

const hex = (text: string) => `X'${text}'`;
export const ALL_BYTES = hex(Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, "0")).join(""));
const members = (count: number, prefix: string) => Array.from({ length: count }, (_, i) => `'${prefix}${i}'`).join(",");

const integers: TypeValues[] = ([["tinyint", 8n], ["smallint", 16n], ["mediumint", 24n], ["int", 32n], ["bigint", 64n]] as const).flatMap(([type, bits]) => {
  const half = 1n << (bits - 1n);
  const edges = [half - 1n, half, (1n << bits) - 1n].map(String);
  return [
    { type, values: [`-${half}`, String(half - 1n), "0", "-1", "9", "10", "99", "100", ...(bits === 64n ? ["-9007199254740993", "9007199254740993", "-4294967296", "999999999999999999"] : [])] },
    { type: `${type} unsigned`, values: ["0", "1", ...edges, ...(bits === 64n ? ["9007199254740993", "9999999999999999999"] : [])] },
    { type: `${type}(3) unsigned zerofill`, values: ["0", "7", ...edges] },
  ];
});

const nines = (count: number) => "9".repeat(count);
const decimals: TypeValues[] = [
  { type: "decimal(65,30)", values: ["0", "-0.0", "-1.5", `${nines(35)}.${nines(30)}`, `-${nines(35)}.${nines(30)}`, `0.${"0".repeat(29)}1`, "1000000000", "-1000000000.000000001", "1.10"] },
  { type: "decimal(65,0)", values: ["0", "-1", nines(65), `-${nines(65)}`] },
  { type: "decimal(30,30)", values: ["0", "0.5", `-0.${nines(30)}`] },
  { type: "decimal(9,9)", values: ["0.123456789", "-0.000000001"] },
  { type: "decimal(18,9)", values: ["999999999.999999999", "-1.000000001", "1000000", "12.300000000"] },
  { type: "decimal(1,0)", values: ["9", "-9", "0"] },
  { type: "decimal(10,2) unsigned", values: ["0", "12345678.90", "99999999.99"] },
  { type: "decimal(12,4) unsigned zerofill", values: ["0", "12345678.9"] },
];

const DOUBLES = ["0", "-0e0", "0.1", "1.7976931348623157e308", "-1.7976931348623157e308", "2.2250738585072014e-308", "2.2250738585072009e-308", "5e-324", "-5e-324", "0.30000000000000004", "1e14", "1e15", "1e16",
  "1e20", "1e21", "1e22", "1e23", "9007199254740993e0", "1e-5", "1e-14", "1e-15", "1.25e-15", "1e-16", "123456789012345678e0", "1234567890123456.7e0", "-123456789.12345678e0"];
const approximate: TypeValues[] = [
  { type: "float", values: ["0", "-0e0", "1.1e0", "0.1e0", "16777216", "16777217", "3.4028234663852886e38", "-3.4028234663852886e38", "1.17549435e-38", "1e-45", "-1e-45", "4.2e-45", "1.1754942e-38", "123456.789e0", "8388609.5e0"] },
  { type: "float(7,4)", values: ["999.0001", "-999.9999", "0.0001"] },
  { type: "float unsigned", values: ["0.3e0", "3.3e38"] },
  { type: "double", values: DOUBLES },
  { type: "double(30,10)", values: ["1.1", "-12345678901.1234567891", "0.0000000001"] },
  { type: "double unsigned", values: ["0", "1e300"] },
];

const bits: TypeValues[] = [1, 2, 7, 8, 9, 16, 17, 31, 32, 33, 48, 63, 64].map((n) => ({ type: `bit(${n})`, values: ["0", "1", `b'${"1".repeat(n)}'`, `b'1${"0".repeat(n - 1)}'`, `b'${"011101".repeat(11).slice(0, n)}'`] }));

/** TIMESTAMPs by their seconds: the zone of the session that writes must not matter. */
const STAMPS = ["'0000-00-00 00:00:00'", "FROM_UNIXTIME(1)", "FROM_UNIXTIME(1.000001)", "FROM_UNIXTIME(1679794200)", "FROM_UNIXTIME(1709251199.999999)", "FROM_UNIXTIME(2147483647)", "FROM_UNIXTIME(2147483646.999999)", "FROM_UNIXTIME(1672628645.678912)"];
const MOMENTS = ["'0000-00-00 00:00:00'", "'2023-00-15 01:02:03.000001'", "'2023-01-00 00:00:00'", "'0000-01-01 00:00:00'", "'0001-01-01 00:00:00'", "'1000-01-01 00:00:00'", "'9999-12-31 23:59:59'", "'9999-12-31 23:59:58.999999'", "'2023-03-26 02:30:00'", "'2024-02-29 12:34:56.789012'", "'2024-02-31 00:00:00.5'"];
const TIMES = ["'-838:59:59'", "'838:59:59'", "'0'", "'-00:00:01'", "'-00:00:00.1'", "'-00:00:00.000001'", "'-00:59:59.999999'", "'-01:00:00'", "'838:59:58.999999'", "'-838:59:58.999999'", "'12:34:56.789123'", "'-100:00:00.5'"];
const digits = [0, 1, 2, 3, 4, 5, 6];
const temporal: TypeValues[] = [
  { type: "year", values: ["'0000'", "1901", "2155", "1970", "2000", "0"] },
  { type: "date", values: ["'0000-00-00'", "'2023-00-15'", "'2023-05-00'", "'0000-01-01'", "'2023-02-30'", "'0001-01-01'", "'1000-01-01'", "'9999-12-31'", "'1582-10-10'"] },
  ...digits.map((n) => ({ type: `datetime(${n})`, values: MOMENTS })),
  ...digits.map((n) => ({ type: `timestamp(${n}) NULL`, values: STAMPS })),
  ...digits.map((n) => ({ type: `time(${n})`, values: TIMES })),
];

const BYTES = ["''", "X'00'", "X'0000'", "X'20'", "X'2000'", "X'612020'", "X'5C4E'", "X'1D4E'", "X'1D1E1F'", "X'275C0A0D1A'", ALL_BYTES];
const binaries: TypeValues[] = [
  { type: "binary(1)", values: ["X'00'", "X'20'", "X'FF'", "''"] },
  { type: "binary(16)", values: ["X'00'", "X'0102030405060708090A0B0C0D0E0F00'", "X'202020202020202020202020202020'", "''"] },
  { type: "binary(255)", values: ["X'00'", "REPEAT(X'00FF', 100)", "''", ALL_BYTES] },
  { type: "varbinary(1)", values: ["X'00'", "X'20'", "''"] },
  { type: "varbinary(255)", values: BYTES },
  { type: "varbinary(256)", values: BYTES },
  { type: "varbinary(3000)", values: [...BYTES, `REPEAT(${ALL_BYTES}, 11)`] },
  { type: "tinyblob", values: BYTES },
  { type: "blob", values: [...BYTES, `REPEAT(${ALL_BYTES}, 255)`] },
  { type: "mediumblob", values: [...BYTES, `REPEAT(${ALL_BYTES}, 300)`] },
  { type: "longblob", values: [...BYTES, `REPEAT(${ALL_BYTES}, 9000)`, "REPEAT(X'1D', 1500000)"] },
];

const lists: TypeValues[] = [
  { type: "enum('a','','it''s',',','\\\\')", values: ["1", "2", "3", "4", "5", "'no member'", "''", "0"] },
  { type: "enum('\u00e9','z') character set latin1", values: ["1", "2", "'no member'"] },
  { type: `enum(${members(300, "e")})`, values: ["1", "255", "256", "300", "'no member'"] },
  { type: "set('a','b','it''s')", values: ["0", "1", "7", "''", "'no member'"] },
  { type: "set('','x')", values: ["0", "1", "2", "3"] },
  ...[9, 20, 32, 64].map((n) => ({ type: `set(${members(n, "m")})`, values: ["0", "1", String((1n << BigInt(n)) - 1n), String(1n << BigInt(n - 1))] })),
];

/** Well-known text, and the SRID that it is stored with; both families keep an SRID of 0 and others. */
const shape = (text: string) => [`ST_GeomFromText('${text}')`, `ST_GeomFromText('${text}', 3857)`];
const POINT = ["POINT(1 2)", "POINT(5e-324 -1.7976931348623157e308)"];
const LINE = ["LINESTRING(0 0,1 1)", "LINESTRING(-1.5 2,0.1 0.2,1e20 1e-20)"];
const AREA = ["POLYGON((0 0,10 0,10 10,0 10,0 0))", "POLYGON((0 0,10 0,10 10,0 10,0 0),(2 2,3 2,3 3,2 3,2 2))"];
const MULTI = ["MULTIPOINT(0 0,1 1)", "MULTILINESTRING((0 0,1 1),(2 2,3 3))", "MULTIPOLYGON(((0 0,10 0,10 10,0 10,0 0)))"];
const ALL_SHAPES = [...POINT, ...LINE, ...AREA, ...MULTI, "GEOMETRYCOLLECTION(POINT(1 1),LINESTRING(0 0,1 1))"];
const geometries: TypeValues[] = [
  { type: "geometry", values: ALL_SHAPES.flatMap(shape) },
  { type: "point", values: POINT.flatMap(shape) },
  { type: "linestring", values: LINE.flatMap(shape) },
  { type: "polygon", values: AREA.flatMap(shape) },
  { type: "multipoint", values: MULTI.slice(0, 1).flatMap(shape) },
  { type: "multilinestring", values: MULTI.slice(1, 2).flatMap(shape) },
  { type: "multipolygon", values: MULTI.slice(2, 3).flatMap(shape) },
  { type: "geometrycollection", values: ALL_SHAPES.slice(-1).flatMap(shape) },
];

export const COMMON_TYPES: readonly TypeValues[] = [...integers, ...decimals, ...approximate, ...bits, ...temporal, ...binaries, ...lists, ...geometries];
