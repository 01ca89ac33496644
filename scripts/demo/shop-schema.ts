/**
 * The sample shop: six tables that between them hold what makes moving rows hard. Composite and text keys, text in six
 * character sets, keys that are equal in their collation only, JSON, decimals, binary values, wide rows, a secondary
 * unique key whose values change hands, a foreign key, a generated column.
 */

import type { Flavor } from "../servers/index.js";

export const SCHEMA = "shop";

export const WAREHOUSES = ["Berlin", "Łódź", "São Paulo", "東京"] as const;

/** Rows at the start; the application adds to them. About 300,000 in all. */
export const ROWS = { customer: 60_000, product: 20_000, orders: 90_000, order_line: 117_000, stock: 20_000, product_page: 2_500 } as const;
export type TableName = keyof typeof ROWS;
export const TABLE_NAMES = Object.keys(ROWS) as TableName[];

/** Beside its key and its two large values, a page has this many columns of text. */
export const PAGE_FIELDS = Array.from({ length: 48 }, (_, i) => `field_${String(i + 1).padStart(2, "0")}`);

/** Each family's own newest collation. */
const COLLATION: Record<Flavor, string> = { mysql: "utf8mb4_0900_ai_ci", mariadb: "utf8mb4_unicode_520_ci" };

export function createStatements(flavor: Flavor): readonly string[] {
  return [`CREATE DATABASE ${SCHEMA} DEFAULT CHARACTER SET utf8mb4 COLLATE ${COLLATION[flavor]}`, ...CREATE_TABLES];
}

/** In an order that the foreign key allows. */
const CREATE_TABLES: readonly string[] = [

  `CREATE TABLE ${SCHEMA}.customer (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    email VARCHAR(120) NOT NULL,
    name VARCHAR(80) NOT NULL,
    city VARCHAR(60) CHARACTER SET latin1 NOT NULL,
    greeting VARCHAR(80) CHARACTER SET koi8r NULL,
    name_ja VARCHAR(40) CHARACTER SET sjis NULL,
    born DATE NULL,
    balance DECIMAL(18,4) NOT NULL DEFAULT 0,
    preferences JSON NULL,
    created_at DATETIME(6) NOT NULL,
    seen_at TIMESTAMP(3) NULL,
    UNIQUE KEY email (email),
    KEY city (city, name)
  )`,

  `CREATE TABLE ${SCHEMA}.product (
    sku CHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
    title VARCHAR(160) NOT NULL,
    title_el VARCHAR(160) CHARACTER SET greek NULL,
    price DECIMAL(12,2) NOT NULL,
    weight DOUBLE NULL,
    size ENUM('small','medium','large','très grand') NULL,
    labels SET('new','fragile','bulky','on sale') NOT NULL DEFAULT '',
    switches BIT(12) NOT NULL DEFAULT b'0',
    attributes JSON NOT NULL,
    thumbnail BLOB NULL,
    checksum BINARY(32) NOT NULL,
    KEY price (price)
  )`,

  `CREATE TABLE ${SCHEMA}.orders (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    customer_id BIGINT UNSIGNED NOT NULL,
    placed_at DATETIME(3) NOT NULL,
    state ENUM('new','paid','sent','returned') NOT NULL DEFAULT 'new',
    currency CHAR(3) CHARACTER SET ascii NOT NULL,
    total DECIMAL(14,4) NOT NULL DEFAULT 0,
    total_cents BIGINT GENERATED ALWAYS AS (ROUND(total * 100)) STORED,
    note TEXT NULL,
    KEY customer (customer_id, placed_at),
    KEY state (state)
  )`,

  `CREATE TABLE ${SCHEMA}.order_line (
    order_id BIGINT NOT NULL,
    line_no SMALLINT UNSIGNED NOT NULL,
    sku CHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    quantity INT NOT NULL,
    price DECIMAL(12,2) NOT NULL,
    discount FLOAT NULL,
    PRIMARY KEY (order_id, line_no),
    KEY sku (sku),
    CONSTRAINT line_of_order FOREIGN KEY (order_id) REFERENCES ${SCHEMA}.orders (id)
  )`,

  `CREATE TABLE ${SCHEMA}.stock (
    warehouse VARCHAR(24) COLLATE utf8mb4_unicode_ci NOT NULL,
    sku CHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    quantity INT NOT NULL,
    shelf TINYTEXT CHARACTER SET utf16 NULL,
    counted_at TIME(2) NULL,
    season YEAR NULL,
    PRIMARY KEY (warehouse, sku)
  )`,

  `CREATE TABLE ${SCHEMA}.product_page (
    sku CHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    language CHAR(2) CHARACTER SET ascii NOT NULL,
    ${PAGE_FIELDS.map((field, i) => `${field} VARCHAR(200) ${i % 3 === 0 ? "CHARACTER SET latin1 " : ""}NULL`).join(",\n    ")},
    body MEDIUMTEXT NOT NULL,
    picture MEDIUMBLOB NULL,
    PRIMARY KEY (sku, language)
  )`,
];
