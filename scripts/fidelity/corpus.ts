/** What is moved: a table per type, a table per character set. */
import type { Flavor } from "../servers/index.js";
import { textValues, type Charset } from "./charsets.js";
import { FAMILY_TYPES } from "./family-values.js";
import { COMMON_TYPES, type TypeValues } from "./values.js";

export interface CorpusTable {
  name: string;
  /** What its values are counted under. */
  what: string;
  columns: { name: string; type: string }[];
  /** Per row one SQL expression, which goes into every column. */
  values: readonly string[];
  /** Ordinals of values that the target's server itself does not hold. */
  refused?: ReadonlySet<number>;
}

export interface CorpusOptions {
  source: Flavor;
  target: Flavor;
  charsets: readonly Charset[];
  /** A part of the character sets' values: each `share`th. */
  share: number;
}

/** Types of MariaDB that MySQL lacks, and the other way round. MariaDB's JSON is text, which both have. */
const ONLY: Record<Flavor, RegExp> = { mysql: /^vector/, mariadb: /^(uuid|inet4|inet6)/ };

export interface Corpus {
  tables: CorpusTable[];
  /** What the target does not have, and why. */
  impossible: string[];
}

export function corpus({ source, target, charsets, share }: CorpusOptions): Corpus {
  const own = FAMILY_TYPES[source];
  const possible = own.filter(({ type }) => source === target || !ONLY[source].test(type));
  // MariaDB stores and shows a negative zero as 0, whichever way it is told.
  const negativeZero = target === "mysql" || source === "mariadb";
  const tables = [...COMMON_TYPES, ...possible].map(({ type, values }: TypeValues, i): CorpusTable => ({
    name: `t${String(i).padStart(3, "0")}`, what: shortName(type), columns: [{ name: "v", type }], values: ["NULL", ...values.filter((value) => negativeZero || value !== "-0e0")],
  }));
  const texts = textValues().filter((_, i) => i % share === 0);
  for (const { name, collation } of charsets) {
    const set = `CHARACTER SET ${name} COLLATE ${collation}`;
    tables.push({
      name: `cs_${name}`, what: `text in ${name}`, values: ["NULL", ...texts],
      columns: [{ name: "c", type: `char(30) ${set}` }, { name: "v", type: `varchar(400) ${set}` }, { name: "w", type: `varchar(60) ${set}` }, { name: "t", type: `text ${set}` }],
    });
  }
  const impossible = own.filter((one) => !possible.includes(one)).map(({ type }) => `${shortName(type)}: the target does not have the type`);
  if (!negativeZero) impossible.push("float and double, the value -0: the target's server makes it 0");
  return { tables, impossible };
}

/** Without what makes a list of members long. */
function shortName(type: string): string {
  return type.length <= 40 ? type : `${type.slice(0, 24)}…(${type.split("','").length})`;
}
