/** The data of the pictures, and an application that writes. */
import { setTimeout as sleep } from "node:timers/promises";
import mysql from "mysql2/promise";

const numbers = (rows: number) => `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<${rows})`;

export async function makeShop(url: string): Promise<void> {
  const db = await mysql.createConnection({ uri: url, multipleStatements: true });
  await db.query(`CREATE DATABASE shop; USE shop; SET SESSION cte_max_recursion_depth=10000000;
    CREATE TABLE customers (id INT PRIMARY KEY, name VARCHAR(60), city VARCHAR(40));
    INSERT INTO customers ${numbers(20_000)} SELECT i, CONCAT('customer ', i), CONCAT('city ', i % 97) FROM n;
    CREATE TABLE orders (id INT PRIMARY KEY, customer INT, total DECIMAL(10,2), note VARCHAR(200), KEY (customer));
    INSERT INTO orders ${numbers(120_000)} SELECT i, 1 + i % 20000, i / 8, REPEAT('n', 60) FROM n;
    CREATE TABLE order_items (order_id INT, line INT, article INT, amount INT, PRIMARY KEY (order_id, line));
    INSERT INTO order_items ${numbers(200_000)} SELECT i DIV 2, i % 2, i % 500, 1 + i % 9 FROM n;
    CREATE TABLE articles (id INT PRIMARY KEY, title VARCHAR(80), price DECIMAL(8,2));
    INSERT INTO articles ${numbers(500)} SELECT i, CONCAT('article ', i), i / 4 FROM n`);
  await db.end();
}

/** About a hundred small changes a second, more and fewer in turn. */
export function writeAllTheTime(url: string): { stop(): Promise<void> } {
  let going = true;
  const done = (async () => {
    const db = await mysql.createConnection({ uri: url, database: "shop" });
    for (let turn = 0; going; turn++) {
      const burst = 4 + Math.round(14 * (1 + Math.sin(turn / 20)));
      for (let i = 0; i < burst; i++) await db.query("UPDATE orders SET note=? WHERE id=?", [`note ${turn}`, 50_000 + ((turn * 31 + i) % 60_000)]);
      await sleep(120);
    }
    await db.end();
  })();
  return {
    stop: async () => {
      going = false;
      await done;
    },
  };
}
