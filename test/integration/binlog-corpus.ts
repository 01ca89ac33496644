/** Random values for the tests of cells, the same on each run. */

export type Random = () => number;

/** mulberry32. */
export function seeded(seed: number): Random {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const integer = (random: Random, limit: number): number => Math.floor(random() * limit);

/** A double's literal with a random bit pattern, decimal digits or magnitude. */
export function randomDouble(random: Random): string {
  const bytes = Buffer.alloc(8);
  for (;;) {
    let value: number;
    switch (integer(random, 4)) {
      case 0:
        for (let i = 0; i < 8; i++) bytes[i] = integer(random, 256);
        value = bytes.readDoubleLE();
        break;
      case 1:
        value = Number(`${integer(random, 2) === 0 ? "-" : ""}${integer(random, 1e9)}${integer(random, 1e9)}e${integer(random, 40) - 30}`);
        break;
      case 2:
        value = integer(random, 1e6) / 10 ** integer(random, 7);
        break;
      default:
        value = Math.round(random() * 10) * 10 ** (integer(random, 40) - 20);
    }
    if (Number.isFinite(value)) return literal(value);
  }
}

export function randomFloat(random: Random): string {
  const bytes = Buffer.alloc(4);
  for (;;) {
    for (let i = 0; i < 4; i++) bytes[i] = integer(random, 256);
    const value = integer(random, 2) === 0 ? bytes.readFloatLE() : Math.fround(random() * 10 ** (integer(random, 20) - 8));
    if (Number.isFinite(value)) return literal(value);
  }
}

/** With an exponent, so that the server reads a double and not a DECIMAL. */
function literal(value: number): string {
  const text = Object.is(value, -0) ? "-0" : String(value);
  return text.includes("e") ? text : `${text}e0`;
}

/** SQL expressions of JSON documents: each special kind, then random nested ones. */
export function jsonCorpus(random: Random, count: number): string[] {
  const fixed = [
    "'null'", "'true'", "'false'", "'{}'", "'[]'", "'\"\"'", "'0'", "'-0'", "'-0.0'", "'1.0'", "'1e300'", "'1e-300'", "'1e15'", "'1e14'", "'123456789012345680'",
    "'32767'", "'32768'", "'-32768'", "'-32769'", "'65535'", "'65536'", "'2147483647'", "'2147483648'", "'-2147483648'", "'-2147483649'", "'4294967295'",
    "'4294967296'", "'9007199254740993'", "'9223372036854775807'", "'-9223372036854775808'", "'9223372036854775808'", "'18446744073709551615'", "'18446744073709551616'",
    `'{"__proto__": 1, "constructor": {"b": [true, false, null]}, "": "empty"}'`,
    `_utf8mb4'"\\\\"\\\\\\\\\\\\/\\\\b\\\\f\\\\n\\\\r\\\\t\\\\u0000\\\\u0001\\\\u001f\\\\u007f\\\\u00e9\\\\ud83d\\\\ude00\\\\u2028"'`,
    "_utf8mb4 0x22F09F988022", "json_object(repeat('k', 200), repeat('v', 200), repeat('l', 65535), repeat('w', 70000))",
    "cast(concat(repeat('[',99),repeat(']',99)) as json)",
    "json_object('d', cast('2024-01-02' as date), 't', cast('-12:00:00.5' as time(6)), 'u', cast('838:59:59' as time), 'dt', cast('2024-01-02 03:04:05.678901' as datetime(6)), 'z', cast('0000-00-00' as datetime))",
    "cast(cast('2024-01-02 03:04:05' as datetime) as json)", "cast(timestamp'2024-01-02 03:04:05' as json)",
    "json_array(cast(1.50 as decimal(10,2)), cast(-0.001 as decimal(10,3)), cast(repeat('9', 65) as decimal(65,0)), cast(0 as decimal(3,3)))",
    "json_array(cast(0x001dff as binary), cast(repeat(0x61, 57) as binary), cast(repeat(0x62, 58) as binary), cast(repeat(0x63, 500) as binary), cast('' as binary))",
    "json_array(b'101', x'ff', cast(2024 as year))", "json_array(st_geomfromtext('point(1 2)'))",
    "json_array(true, false, null, 1.5e0, -0e0, 1e0, 1e20, 1e-20, 12345678901234567890e0)",
    `cast(concat('[', repeat('1,', 40000), '70000, 5000000000]') as json)`,
    `cast(concat('[', repeat('"abc",', 20000), '1.5, 70000, -70000, {"a": {"b": 1}}]') as json)`,
    `cast(concat('{', (with recursive n as (select 0 i union all select i + 1 from n where i < 900) select group_concat('"key', i, '": ', i * 100 separator ',') from n), '}') as json)`,
  ];
  return [...fixed, ...Array.from({ length: count - fixed.length }, () => quoted(JSON.stringify(value(random, 0)).replaceAll('"#', "").replaceAll('#"', "")))];
}

function quoted(text: string): string {
  return `_utf8mb4'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

/** Numbers that JavaScript would change stand as `"#…#"`. */
function value(random: Random, depth: number): unknown {
  switch (integer(random, depth > 4 ? 8 : 11)) {
    case 0:
      return null;
    case 1:
      return random() < 0.5;
    case 2:
      return integer(random, 2 ** 31) - 2 ** 30;
    case 3:
      return `#${BigInt(integer(random, 2 ** 31)) * BigInt(integer(random, 2 ** 31)) * 3n - 4_000_000_000_000_000_000n}#`;
    case 4:
      return `#${randomDouble(random).replace(/e0$/, "")}#`;
    case 5:
      return string(random);
    case 6:
      return integer(random, 70000) - 35000;
    case 7:
      return random() * 1000;
    case 8:
      return Array.from({ length: integer(random, 6) }, () => value(random, depth + 1));
    default:
      return Object.fromEntries(Array.from({ length: integer(random, 6) }, () => [string(random), value(random, depth + 1)]));
  }
}

function string(random: Random): string {
  const alphabet = ["a", "Z", "0", " ", '"', "\\", "/", "\n", "\t", "\u0000", "\u001f", "\u007f", "é", "漢", "😀", "'", "\u2028"];
  const length = random() < 0.05 ? 100 + integer(random, 400) : integer(random, 12);
  return Array.from({ length }, () => alphabet[integer(random, alphabet.length)]).join("");
}
