/** Fills the shop: the server makes the rows itself, from a sequence, so that nothing but statements crosses the wire. */
import type { Connection } from "mysql2/promise";

import type { Flavor } from "../servers/index.js";
import { createStatements, PAGE_FIELDS, ROWS, SCHEMA, WAREHOUSES } from "./shop-schema.js";

/** Rows per INSERT: a transaction of a size that a binlog cache holds in memory, and Ctrl-C does not wait long for one. */
const SLICE = 10_000;

export interface LoadOptions {
  flavor: Flavor;
  signal: AbortSignal;
  onProgress: (rows: number) => void;
}

/** Creates and fills the shop on a server where it is not there yet. */
export async function loadShop(connection: Connection, { flavor, signal, onProgress }: LoadOptions): Promise<void> {
  for (const statement of createStatements(flavor)) await connection.query(statement);
  await connection.query(`SET SESSION ${flavor === "mysql" ? "cte_max_recursion_depth" : "max_recursive_iterations"} = ${SLICE + 1}`);
  let rows = 0;
  for (const { table, columns, values } of CONTENTS) {
    for (let from = 1; from <= ROWS[table]; from += SLICE) {
      signal.throwIfAborted();
      const to = Math.min(from + SLICE - 1, ROWS[table]);
      await connection.query(`INSERT INTO ${SCHEMA}.${table} (${columns}) ${sequence(from, to)} SELECT ${values} FROM sequence`);
      onProgress((rows += to - from + 1));
    }
  }
  // the size that a planner sees must not depend on when the server's own statistics thread comes by
  await connection.query(`ANALYZE TABLE ${Object.keys(ROWS).map((table) => `${SCHEMA}.${table}`).join(", ")}`);
}

/** A row `n` for every number in the range. */
function sequence(from: number, to: number): string {
  return `WITH RECURSIVE sequence (n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM sequence WHERE n < ${to})`;
}

/** Number `n` of a list, over and over. */
function oneOf(values: readonly string[], n = "n"): string {
  return `ELT(1 + (${n}) % ${values.length}, ${values.map((value) => `'${value}'`).join(", ")})`;
}

const NAMES = ["Łukasz", "Søren", "Αθηνά", "Олена", "José", "Zoë", "明", "Nguyễn", "O\\'Brien", "Çelik", "🦉 Eule", "Jean-Luc"];
const CITIES = ["Köln", "Málaga", "Århus", "Besançon", "Zürich", "Reykjavík", "Dún Laoghaire", "Saarbrücken"];
const GREETINGS = ["Здравствуйте", "Добрый день", "Привет", "Уважаемый клиент"];
const JAPANESE = ["山田太郎", "鈴木ソフト", "表示能力", "東京都港区"];
const GREEK = ["Καρέκλα", "Τραπέζι", "Λάμπα", "Βιβλιοθήκη"];
const THINGS = ["Chair", "Table", "Lamp", "Shelf", "Bed", "Rug", "Desk", "Stool — oak", "Wardrobe 2½ m", "Sofa “Größe L”"];
const SHELVES = ["A1 → B2", "第三棚", "niveau été", "Z-9 🚚"];
const SENTENCE = "The quick brown fox — schnell & größer — перепрыгнул через 犬; it\\'s 100% true. ";

const SKU = "CONCAT('P', LPAD(n, 8, '0'))";

interface TableContent {
  table: keyof typeof ROWS;
  columns: string;
  /** In terms of `n`. */
  values: string;
}

const CONTENTS: readonly TableContent[] = [
  {
    table: "customer",
    columns: "id, email, name, city, greeting, name_ja, born, balance, preferences, created_at, seen_at",
    values: `
      n,
      CONCAT('customer', n, '@', ${oneOf(["example.org", "example.net", "example.com"])}),
      CONCAT(${oneOf(NAMES)}, ' ', n),
      ${oneOf(CITIES)},
      IF(n % 5 = 0, NULL, ${oneOf(GREETINGS)}),
      IF(n % 3 = 0, ${oneOf(JAPANESE)}, NULL),
      IF(n % 17 = 0, NULL, DATE('1940-01-01') + INTERVAL (n * 7919) % 25000 DAY),
      (n * 104729 % 2000000 - 500000) / 97,
      IF(n % 11 = 0, NULL, JSON_OBJECT('newsletter', n % 2 = 0, 'score', n / 7, 'ratio', n * 1.1e-3, 'visits', n % 1000,
        'tags', JSON_ARRAY(${oneOf(THINGS)}, n % 10, NULL), 'largest', 18446744073709551615 - n, 'since', CAST('2019-05-17' AS DATE) + INTERVAL n % 2000 DAY)),
      TIMESTAMP('2021-01-01 00:00:00.000001') + INTERVAL n * 1234567 MICROSECOND,
      IF(n % 4 = 0, NULL, TIMESTAMP('2024-02-29 12:00:00') + INTERVAL n * 37 SECOND)`,
  },
  {
    table: "product",
    columns: "sku, title, title_el, price, weight, size, labels, switches, attributes, thumbnail, checksum",
    values: `
      ${SKU},
      CONCAT(${oneOf(THINGS)}, ' no. ', n),
      IF(n % 4 = 0, NULL, ${oneOf(GREEK)}),
      (n * 7907 % 100000) / 100,
      IF(n % 9 = 0, NULL, n / 3e0),
      IF(n % 7 = 0, NULL, 1 + n % 4),
      n % 16,
      n % 4096,
      JSON_OBJECT('colour', ${oneOf(["red", "grün", "青", "bleu foncé"])}, 'width', n % 300 / 10, 'parts', JSON_ARRAY(n, n + 1, JSON_OBJECT('deep', n % 3 = 0))),
      IF(n % 6 = 0, NULL, REPEAT(UNHEX(SHA2(n, 256)), 1 + n % 20)),
      UNHEX(SHA2(CONCAT('product', n), 256))`,
  },
  {
    table: "orders",
    columns: "id, customer_id, placed_at, state, currency, total, note",
    values: `
      n,
      1 + n * 31 % ${ROWS.customer},
      TIMESTAMP('2023-06-01') + INTERVAL n * 211 SECOND,
      1 + n % 4,
      ${oneOf(["EUR", "PLN", "BRL", "JPY"])},
      (n * 6151 % 900000) / 1000,
      IF(n % 10 = 0, REPEAT('${SENTENCE}', 1 + n % 3), NULL)`,
  },
  {
    table: "order_line",
    columns: "order_id, line_no, sku, quantity, price, discount",
    // the first lines of all orders, then the second ones of some
    values: `
      1 + (n - 1) % ${ROWS.orders}, 1 + (n - 1) DIV ${ROWS.orders},
      CONCAT('P', LPAD(1 + n * 13 % ${ROWS.product}, 8, '0')),
      1 + n % 9, (n * 7907 % 100000) / 100, IF(n % 5 = 0, n % 100 / 300, NULL)`,
  },
  {
    table: "stock",
    columns: "warehouse, sku, quantity, shelf, counted_at, season",
    values: `
      ${oneOf(WAREHOUSES)}, ${SKU}, n % 500, IF(n % 3 = 0, NULL, ${oneOf(SHELVES)}),
      IF(n % 2 = 0, NULL, SEC_TO_TIME((n * 97 % 1600000) - 800000)), IF(n % 8 = 0, NULL, 2000 + n % 40)`,
  },
  {
    table: "product_page",
    columns: `sku, language, ${PAGE_FIELDS.join(", ")}, body, picture`,
    values: `
      CONCAT('P', LPAD(1 + n DIV 2, 8, '0')), IF(n % 2 = 0, 'de', 'pl'),
      ${PAGE_FIELDS.map((_, i) => (i % 3 === 0 ? oneOf(CITIES, `n + ${i}`) : `IF((n + ${i}) % 6 = 0, NULL, CONCAT(${oneOf(THINGS, `n + ${i}`)}, ' ', n * ${i + 1}))`)).join(",\n      ")},
      REPEAT('${SENTENCE}', 20 + n % 100),
      IF(n % 5 = 0, NULL, REPEAT(UNHEX(SHA2(n, 512)), 16 + n % 200))`,
  },
];
