/** Boundary values of the types that only one family of servers has. */
import type { Flavor } from "../servers/index.js";
import { ALL_BYTES, type TypeValues } from "./values.js";

const string = (text: string) => `_utf8mb4'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

/** JSON documents as texts that both families take. */
const DOCUMENTS = [
  "null", "true", "{}", "[]", '""', "0", "-0.0", "1.0", "1e300", "-1e-300", "123456789012345680.5", "9007199254740993", "9223372036854775807", "-9223372036854775808", "18446744073709551615", "0.1", "0.30000000000000004",
  '{"__proto__": 1, "constructor": {"b": [true, false, null]}, "": "empty", "a\\u0000b": 1}', '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\\u007f\\u00e9\\ud83d\\ude00\\u2028"',
  '[1, -1, 32767, 32768, -32769, 65535, 65536, 2147483647, 2147483648, -2147483649, 4294967295, 4294967296]', '{"b": 1, "aa": 2, "a": 3, "c": {"z": [], "y": {}}}', "[1.5, 2.25, -0.001, 1e15, 1e16, 1e-5]",
];
/** Documents that MySQL builds, with values that their text only names. */
const BUILT = [
  "CAST(CONCAT(REPEAT('[',99), REPEAT(']',99)) AS JSON)", "JSON_OBJECT(REPEAT('k', 200), REPEAT('v', 70000))",
  "JSON_OBJECT('d', CAST('2024-01-02' AS DATE), 't', CAST('-12:00:00.5' AS TIME(6)), 'u', CAST('838:59:59' AS TIME), 'dt', CAST('2024-01-02 03:04:05.678901' AS DATETIME(6)))",
  "JSON_ARRAY(CAST(1.50 AS DECIMAL(10,2)), CAST(-0.001 AS DECIMAL(10,3)), CAST(REPEAT('9', 65) AS DECIMAL(65,0)), CAST(0 AS DECIMAL(3,3)))", "CAST(12.30 AS JSON)", "JSON_OBJECT('n', 12.50, 'm', JSON_ARRAY(1.10, '1.10'))",
  "JSON_ARRAY(CAST(X'001DFF' AS BINARY), CAST(REPEAT('a', 500) AS BINARY), b'101', CAST(2024 AS YEAR))", "JSON_ARRAY(ST_GeomFromText('POINT(1 2)'))",
  "CAST(CONCAT('[', REPEAT('1,', 40000), '70000, 5000000000]') AS JSON)", "CAST(CONCAT('[', REPEAT('\"abc\",', 20000), '1.5, {\"a\": 1}]') AS JSON)",
];

const vector = (numbers: string) => `STRING_TO_VECTOR(${numbers})`;
const MYSQL: TypeValues[] = [
  { type: "json", values: [...DOCUMENTS.map(string), ...BUILT] },
  ...["geometry", "point"].map((type) => ({ type: `${type} srid 4326`, values: ["ST_GeomFromText('POINT(30 10)', 4326)", "ST_GeomFromText('POINT(-90 180)', 4326)"] })),
  { type: "geometry srid 0", values: ["ST_GeomFromText('POINT(30 10)')", "ST_GeomFromText('GEOMETRYCOLLECTION EMPTY')"] },
  { type: "polygon srid 4326", values: ["ST_GeomFromText('POLYGON((0 0,10 0,10 10,0 10,0 0))', 4326)"] },
  { type: "linestring srid 3857", values: ["ST_GeomFromText('LINESTRING(0 0,1 1)', 3857)"] },
  { type: "geomcollection", values: ["ST_GeomFromText('GEOMETRYCOLLECTION(POINT(1 1))', 4326)", "ST_GeomFromText('GEOMETRYCOLLECTION EMPTY', 4326)"] },
  { type: "vector(1)", values: [vector("'[0]'"), "X'00000080'", "X'01000000'", vector("'[3.4e38]'")] },
  { type: "vector(4)", values: [vector("'[1,2,3,4]'"), "X'1D1E1F1D1D1E1F1D000000805C5C5C5C'"] },
  { type: "vector(2048)", values: [vector("CONCAT('[', REPEAT('0.5,',2047), '1]')")] },
  { type: "vector(16383)", values: [vector("CONCAT('[', REPEAT('0.25,',16382), '1]')")] },
];

const TEXTS = ["''", "'x'", "'a  '", "REPEAT('x', 99)", "REPEAT('x', 100)", "REPEAT('abc', 1000)", "_utf8mb4 X'F09F9880'", "REPEAT(_utf8mb4 X'F09F9880', 500)", "RPAD('', 3000, MD5(1))"];
const MARIADB: TypeValues[] = [
  { type: "json", values: [...DOCUMENTS.map(string), string(' {"b" : 1,\n\t"a":2.50, "a":12345678901234567890123 } ')] },
  { type: "uuid", values: ["'123e4567-e89b-12d3-a456-426655440000'", "'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'", "'01234567-89ab-7def-8123-456789abcdef'", "'6ccd780c-baba-1026-9564-5b8c656024db'"] },
  { type: "inet4", values: ["'0.0.0.0'", "'255.255.255.255'", "'10.0.0.1'", "'1.2.3.0'"] },
  { type: "inet6", values: ["'::'", "'::1'", "'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'", "'::ffff:1.2.3.4'", "'::1.2.3.4'", "'1:2:3:4:5:6:7:0'", "'2001:db8:0:1:1:1:1:1'", "'fe80::'"] },
  { type: "varchar(4000) compressed character set utf8mb4", values: TEXTS },
  { type: "varchar(200) compressed character set latin1", values: ["''", "'x'", "REPEAT('x', 200)", ALL_BYTES] },
  { type: "varbinary(4000) compressed", values: ["''", "X'00'", ALL_BYTES, `REPEAT(${ALL_BYTES}, 15)`, "REPEAT(X'00', 4000)"] },
  ...["tinytext", "text", "mediumtext", "longtext"].map((type) => ({ type: `${type} compressed character set utf8mb4`, values: TEXTS })),
  ...["tinyblob", "blob", "mediumblob", "longblob"].map((type) => ({ type: `${type} compressed`, values: ["''", "X'00'", "REPEAT(X'00', 250)", ALL_BYTES, `REPEAT(${ALL_BYTES}, 200)`] })),
];

export const FAMILY_TYPES: Record<Flavor, readonly TypeValues[]> = { mysql: MYSQL, mariadb: MARIADB };
