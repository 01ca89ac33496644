/** What the shop's application does, as SQL text. Each kind is there for what it asks of whoever follows the binlog. */
import { randomInt } from "node:crypto";

import { format } from "mysql2/promise";

import { PAGE_FIELDS, ROWS, SCHEMA, WAREHOUSES } from "./shop-schema.js";

export interface Transaction {
  name: string;
  statements: string[];
}

interface Kind {
  name: string;
  /** Of how many hundredths of all. */
  share: number;
  statements(): string[];
}

const KINDS: readonly Kind[] = [
  { name: "order placed", share: 34, statements: placeOrder },
  { name: "order paid or sent", share: 20, statements: moveOrderOn },
  { name: "customer edited", share: 14, statements: editCustomer },
  { name: "order deleted", share: 9, statements: deleteOrder },
  { name: "stock moved to another key", share: 8, statements: moveStock },
  { name: "page rewritten", share: 5, statements: rewritePage },
  { name: "customer came and went", share: 4, statements: comeAndGo },
  { name: "two e-mail addresses swapped", share: 3, statements: swapAddresses },
  { name: "product renamed", share: 2, statements: renameProduct },
  { name: "price list changed", share: 1, statements: changePrices },
];

export function randomTransaction(): Transaction {
  let at = randomInt(KINDS.reduce((sum, kind) => sum + kind.share, 0));
  const kind = KINDS.find(({ share }) => (at -= share) < 0) as Kind;
  return { name: kind.name, statements: kind.statements() };
}

function sql(text: string, ...values: (string | number | Buffer | null | string[])[]): string {
  return format(text.replaceAll("shop.", `${SCHEMA}.`), values);
}

const upTo = (limit: number): number => randomInt(1, limit + 1);
const oneOf = <T>(values: readonly T[]): T => values[randomInt(values.length)] as T;
const chance = (percent: number): boolean => randomInt(100) < percent;

/** Both names that a product goes by (`renameProduct`): one of them is there. */
function skus(number = upTo(ROWS.product)): [string, string] {
  const digits = String(number).padStart(8, "0");
  return [`P${digits}`, `Q${digits}`];
}

/** A parent and its children in one transaction, under a key that the server gives. */
function placeOrder(): string[] {
  const products = Array.from({ length: upTo(4) }, () => upTo(ROWS.product)).sort((a, b) => a - b);
  const customer = upTo(ROWS.customer);
  return [
    sql("INSERT INTO shop.orders (customer_id, placed_at, currency, note) VALUES (?, NOW(3), ?, ?)", customer, oneOf(["EUR", "PLN", "BRL", "JPY"]), chance(20) ? "Bitte klingeln 🔔 – dziękuję" : null),
    "SET @placed = LAST_INSERT_ID()",
    ...products.map((product, i) =>
      sql("INSERT INTO shop.order_line SELECT @placed, ?, sku, ?, price, ? FROM shop.product WHERE sku IN (?)", i + 1, upTo(9), chance(30) ? Math.random() : null, skus(product)),
    ),
    sql("UPDATE shop.orders SET total = (SELECT COALESCE(SUM(quantity * price), 0) FROM shop.order_line WHERE order_id = @placed) WHERE id = @placed"),
    sql("UPDATE shop.stock SET quantity = quantity - 1 WHERE warehouse = ? AND sku = ?", oneOf(WAREHOUSES), skus(products[0])[0]),
    sql("UPDATE shop.customer SET balance = balance - ?, seen_at = NOW(3) WHERE id = ?", upTo(90_000) / 1000, customer),
  ];
}

function moveOrderOn(): string[] {
  return [sql("UPDATE shop.orders SET state = ELT(?, 'paid', 'sent', 'returned'), note = CONCAT(COALESCE(note, ''), ?) WHERE id = ?", upTo(3), chance(10) ? " ✓" : "", upTo(ROWS.orders))];
}

function editCustomer(): string[] {
  const id = upTo(ROWS.customer);
  const city = oneOf(["Köln", "Málaga", "Århus", "€uropa", "Œuvres", "Zürich"]);
  return [
    oneOf([
      sql("UPDATE shop.customer SET preferences = JSON_SET(COALESCE(preferences, '{}'), '$.visits', ?, '$.last', JSON_OBJECT('page', ?, 'share', ?)) WHERE id = ?", upTo(1e9), "日本語", Math.random(), id),
      sql("UPDATE shop.customer SET city = ?, greeting = NULLIF(greeting, 'Привет'), name = CONCAT(LEFT(name, 60), '’') WHERE id = ?", city, id),
      sql("UPDATE shop.customer SET born = born + INTERVAL 1 DAY, preferences = NULL WHERE id = ?", id),
    ]),
  ];
}

function deleteOrder(): string[] {
  const id = upTo(ROWS.orders);
  return [sql("DELETE FROM shop.order_line WHERE order_id = ?", id), sql("DELETE FROM shop.orders WHERE id = ?", id)];
}

/** Key changes: to another warehouse, and to the same one in other letters, which is the same key to the column's collation. */
function moveStock(): string[] {
  const sku = skus()[0];
  if (chance(50)) return [sql("UPDATE shop.stock SET warehouse = IF(BINARY warehouse = BINARY LOWER(warehouse), UPPER(warehouse), LOWER(warehouse)) WHERE warehouse = ? AND sku = ?", oneOf(WAREHOUSES), sku)];
  return [sql("UPDATE IGNORE shop.stock SET warehouse = ?, quantity = quantity + 1 WHERE warehouse = ? AND sku = ?", oneOf(WAREHOUSES), oneOf(WAREHOUSES), sku)];
}

function rewritePage(): string[] {
  const language = oneOf(["de", "pl"]);
  return [
    sql("UPDATE shop.product_page SET ?? = ?, body = INSERT(body, ?, 7, ?), picture = IF(?, NULL, CONCAT(COALESCE(picture, ''), ?)) WHERE sku = ? AND language = ?",
      oneOf(PAGE_FIELDS), "neu, größer", upTo(1500), "новое!", chance(20) ? 1 : 0, Buffer.from([0, 255, 39, 92, 10, 26]), skus(upTo(ROWS.product_page / 2))[0], language),
  ];
}

/** A row that lives shorter than a batch. */
function comeAndGo(): string[] {
  return [
    sql("INSERT INTO shop.customer (email, name, city, created_at) VALUES (CONCAT(UUID(), '@example.org'), 'Guest', 'Nirgendwo', NOW(6))"),
    "SET @guest = LAST_INSERT_ID()",
    sql("UPDATE shop.customer SET balance = 1.0001 WHERE id = @guest"),
    ...(chance(70) ? [sql("DELETE FROM shop.customer WHERE id = @guest")] : []),
  ];
}

/** Values of a secondary unique key change hands: applied row by row in a wrong order, one row would push out the other. */
function swapAddresses(): string[] {
  const first = upTo(ROWS.customer - 1);
  const second = first + upTo(Math.min(50, ROWS.customer - first));
  return [
    sql("SELECT MIN(IF(id = ?, email, NULL)), MIN(IF(id = ?, email, NULL)) INTO @first, @second FROM shop.customer WHERE id IN (?, ?) FOR UPDATE", first, second, first, second),
    sql("UPDATE shop.customer SET email = CONCAT(UUID(), '@swap.invalid') WHERE id = ?", first),
    sql("UPDATE shop.customer SET email = @first WHERE id = ?", second),
    sql("UPDATE shop.customer SET email = @second WHERE id = ?", first),
  ];
}

/** A change of a text key that rows in other tables know by value. */
function renameProduct(): string[] {
  const [old, renamed] = skus();
  return [
    sql("UPDATE shop.product SET sku = CONCAT(IF(LEFT(sku, 1) = 'P', 'Q', 'P'), SUBSTRING(sku, 2)), switches = switches ^ b'101' WHERE sku IN (?)", [old, renamed]),
    sql("UPDATE shop.product SET labels = CONCAT_WS(',', NULLIF(labels, ''), 'on sale'), attributes = JSON_ARRAY_APPEND(attributes, '$.parts', ?) WHERE sku IN (?)", upTo(1000), [old, renamed]),
  ];
}

/** Hundreds of rows in one transaction. */
function changePrices(): string[] {
  const from = upTo(ROWS.product - 300);
  return [sql("UPDATE shop.product SET price = ROUND(price * ?, 2), weight = weight * 1.0000001 WHERE sku BETWEEN ? AND ?", 0.9 + Math.random() / 5, skus(from)[0], skus(from + 300)[0])];
}
