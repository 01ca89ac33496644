/** What statements of the binlog do to tables: every head of MySQL's and MariaDB's grammars, nasty names, comments, modes, character sets. */
import { describe, expect, it } from "vitest";
import { readStatement } from "../../../src/workers/ddl/sql/read-statement.js";
import type { Statement, TableReference } from "../../../src/workers/ddl/sql/statement.js";
import { UnreadableStatement } from "../../../src/shared/sql/unreadable-statement.js";

interface Modes {
  charset?: string;
  ansiQuotes?: boolean;
  noBackslashEscapes?: boolean;
  schema?: string;
}

function read(sql: string, modes: Modes = {}) {
  return readStatement(Buffer.from(sql, "utf8").toString("latin1"), {
    charset: "utf8mb4", ansiQuotes: false, noBackslashEscapes: false, schema: "d", decode: (bytes) => Buffer.from(bytes, "latin1").toString("utf8"), ...modes,
  });
}

/** A statement in a line: its kind, its tables as `schema.table`, and what else is said about it. */
function line(sql: string, modes: Modes = {}): string {
  return describeStatement(read(sql, modes).statement);
}

function describeStatement(statement: Statement): string {
  const words: string[] = [statement.kind];
  const name = (table: TableReference) => `${table.schema}.${table.table}`;
  for (const [key, value] of Object.entries(statement) as [string, unknown][]) {
    if (key === "kind" || value === null || value === false) continue;
    if (key === "table") words.push(name(value as TableReference));
    else if (key === "pairs") words.push(...(value as { from: TableReference; to: TableReference }[]).map(({ from, to }) => `${name(from)}>${name(to)}`));
    else if (key === "tables") words.push(...(value as TableReference[]).map(name));
    else if (key === "references") words.push(...(value as TableReference[]).map((table) => `references=${name(table)}`));
    else if (value === true) words.push(key);
    else words.push(`${key}=${typeof value === "string" ? value : name(value as TableReference)}`);
  }
  return words.join(" ");
}

const CASES: Record<string, string> = {
  // ALTER TABLE
  "ALTER TABLE t ADD COLUMN c INT": "alter d.t",
  "alter table s.t add c int": "alter s.t",
  "ALTER TABLE `a``b`.`t x.y` ADD COLUMN `c;d` VARCHAR(10) CHARACTER SET gbk DEFAULT 'x' COMMENT 'a''b, RENAME TO u' AFTER id, DROP COLUMN d, ALGORITHM=INSTANT, LOCK=NONE": "alter a`b.t x.y",
  "ALTER TABLE `表`.`ключ` ADD `é` INT": "alter 表.ключ",
  "ALTER TABLE ключ ADD é INT": "alter d.ключ",
  "ALTER TABLE t ADD COLUMN v VECTOR(3), ADD w INT INVISIBLE, ALTER INDEX i INVISIBLE, ADD p POINT NOT NULL SRID 4326": "alter d.t",
  "ALTER TABLE t RENAME COLUMN a TO b, RENAME INDEX i TO j, RENAME KEY k TO l, RENAME TO s.u": "alter d.t renameTo=s.u",
  "ALTER TABLE t RENAME u": "alter d.t renameTo=d.u",
  "ALTER TABLE t RENAME AS `to`": "alter d.t renameTo=d.to",
  "ALTER TABLE t RENAME = u, ADD a INT": "alter d.t renameTo=d.u",
  "ALTER TABLE t RENAME `column`": "alter d.t renameTo=d.column",
  "ALTER TABLE t RENAME COLUMN a TO b, RENAME COLUMN b TO a": "alter d.t reversible",
  "ALTER TABLE t CHANGE a b INT, CHANGE COLUMN b a INT": "alter d.t reversible",
  "ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES p (id), ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES `s`.`q` (id) ON DELETE CASCADE": "alter d.t references=d.p references=s.q",
  "ALTER TABLE t ADD c INT DEFAULT (t.references), ADD CHECK ((a > (1)))": "alter d.t",
  "ALTER TABLE t EXCHANGE PARTITION p0 WITH TABLE s.u WITHOUT VALIDATION": "alter d.t exchange=s.u reversible",
  "ALTER TABLE t PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN MAXVALUE)": "alter d.t",
  "ALTER TABLE t REORGANIZE PARTITION p1 INTO (PARTITION p2 VALUES IN (1,2))": "alter d.t",
  "ALTER TABLE t TRUNCATE PARTITION p0, p1": "alter d.t",
  "ALTER TABLE t IMPORT TABLESPACE": "alter d.t refills",
  "ALTER TABLE t DISCARD PARTITION p0 TABLESPACE": "alter d.t refills",
  "ALTER TABLE t ADD n INT NOT NULL AUTO_INCREMENT UNIQUE": "alter d.t refills",
  "ALTER TABLE t ADD (a INT, n INT AUTO_INCREMENT, KEY (n))": "alter d.t refills",
  "ALTER TABLE t MODIFY n BIGINT AUTO_INCREMENT, AUTO_INCREMENT=100": "alter d.t",
  "ALTER TABLE t ENGINE=MERGE UNION=(a,b)": "alter d.t unsupported=UNION",
  "ALTER TABLE t FORCE": "alter d.t",
  "ALTER TABLE t": "alter d.t",
  "ALTER TABLE t ORDER BY a, b DESC": "alter d.t",
  "ALTER ONLINE IGNORE TABLE IF EXISTS t NOWAIT ADD COLUMN IF NOT EXISTS c INT": "alter d.t",
  "ALTER TABLE t WAIT 5 DROP c;": "alter d.t",
  "ALTER TABLE .t ADD c INT": "alter d.t",
  "ALTER TABLE s . /* x */ t ADD c INT": "alter s.t",
  "ALTER TABLE s.1t ADD 1a INT": "alter s.1t",
  "/* ALTER TABLE x */ ALTER -- TABLE y\n TABLE # z\n t ADD c INT --": "alter d.t",
  "ALTER TABLE t /*!80000 ADD COLUMN c INT, RENAME TO */ u": "alter d.t renameTo=d.u",
  "ALTER TABLE t /* 99999 RENAME TO x */ ADD c INT /*!80023 INVISIBLE */": "alter d.t",
  "/*!40000 ALTER TABLE `t` DISABLE KEYS */": "alter d.t",
  "/*M!100401 ALTER TABLE t ADD c INT */": "alter d.t",
  // indexes
  "CREATE INDEX i ON t (a, b(4) DESC) ALGORITHM INPLACE LOCK NONE": "alter d.t",
  "CREATE UNIQUE INDEX i USING HASH ON s.t ((lower(a)))": "alter s.t",
  "CREATE OR REPLACE FULLTEXT INDEX IF NOT EXISTS `on` ON `on` (a)": "alter d.on",
  "CREATE SPATIAL INDEX i ON t (p)": "alter d.t",
  "CREATE VECTOR INDEX i ON t (v)": "alter d.t",
  "DROP INDEX `PRIMARY` ON t ALGORITHM=COPY": "alter d.t",
  "DROP INDEX IF EXISTS i ON s.t": "alter s.t",
  // CREATE TABLE
  "CREATE TABLE s.t (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, a VARCHAR(10) NOT NULL DEFAULT '', KEY k (a(3))) ENGINE=InnoDB": "create s.t",
  "CREATE TABLE t (a int, b int REFERENCES u(c), CONSTRAINT `references` CHECK (a > 1), FOREIGN KEY (b) REFERENCES s.v (x))": "create d.t references=d.u references=s.v",
  "CREATE TABLE IF NOT EXISTS t LIKE s.u": "create d.t like=s.u ifNotExists",
  "CREATE TABLE t ( LIKE u )": "create d.t like=d.u",
  "CREATE TABLE `t` (\n  `id` int NOT NULL\n) START TRANSACTION": "create d.t filled",
  "CREATE TABLE t SELECT * FROM u": "create d.t filled",
  "CREATE TABLE t (PRIMARY KEY (a)) ENGINE=InnoDB IGNORE AS SELECT 1 AS a": "create d.t filled",
  "CREATE TABLE t (SELECT 1)": "create d.t filled",
  "CREATE TABLE t AS TABLE u": "create d.t filled",
  "CREATE TABLE t WITH x AS (SELECT 1) SELECT * FROM x": "create d.t filled",
  "CREATE TABLE t (a int DEFAULT (1+(2)), b varchar(20)) PARTITION BY LIST COLUMNS(b) (PARTITION p VALUES IN ('a','b'))": "create d.t",
  "CREATE TABLE t (a int) COMMENT='SELECT' ENGINE=MRG_MYISAM UNION=(t1,t2)": "create d.t unsupported=UNION",
  "CREATE OR REPLACE TABLE t (a int)": "create d.t orReplace",
  "CREATE TABLE t (a SERIAL, b NATIONAL VARCHAR(3), c LONG VARCHAR, e GEOMCOLLECTION, f CHAR BYTE, g ENUM('a,b','c)'), h SET('(') )": "create d.t",
  "CREATE TEMPORARY TABLE t (a int)": "none",
  // DROP, TRUNCATE, RENAME
  "DROP TABLE `t` /* generated by server */": "drop d.t",
  "DROP TABLE IF EXISTS `a`.`t`,`u` CASCADE /* generated by server */": "drop a.t d.u",
  "DROP TABLES t, s.u": "drop d.t s.u",
  "DROP TEMPORARY TABLE IF EXISTS `t` /* generated by server */": "none",
  "TRUNCATE TABLE s.t": "truncate s.t",
  "TRUNCATE `table`": "truncate d.table",
  "TRUNCATE t WAIT 3": "truncate d.t",
  "RENAME TABLE t TO u, u TO s.v": "rename d.t>d.u d.u>s.v",
  "RENAME TABLES IF EXISTS a NOWAIT TO b": "rename d.a>d.b",
  "RENAME USER a TO b": "none",
  // schemas
  "CREATE DATABASE IF NOT EXISTS d": "none",
  "DROP SCHEMA IF EXISTS `d``x`": "drop-schema schema=d`x",
  "ALTER DATABASE x DEFAULT CHARACTER SET = utf8mb4 COLLATE utf8mb4_bin": "alter-schema schema=x charset=utf8mb4 collation=utf8mb4_bin",
  "ALTER SCHEMA CHARACTER SET latin1": "alter-schema schema=d charset=latin1",
  "ALTER DATABASE `default` CHARSET latin1": "alter-schema schema=default charset=latin1",
  "ALTER DATABASE x READ ONLY = 1": "alter-schema schema=x",
  // rows in statement format
  "INSERT INTO t VALUES (1)": "rows d.t",
  "INSERT LOW_PRIORITY IGNORE s.t SET a=1": "rows s.t",
  "REPLACE INTO s.t SELECT * FROM u": "rows s.t",
  "UPDATE IGNORE t AS x LEFT JOIN (s.u USE INDEX (i), v) ON x.a=u.b JOIN (SELECT * FROM w) AS y SET x.a=1": "rows d.t s.u d.v",
  "UPDATE t SET a=(SELECT 1 FROM u)": "rows d.t",
  "DELETE FROM t WHERE a IN (SELECT a FROM u)": "rows d.t",
  "DELETE x, s.y.* FROM t AS x, s.y PARTITION (p0) WHERE 1": "rows d.t s.y",
  "DELETE QUICK FROM a, b USING t AS a JOIN u AS b USING (id)": "rows d.a d.b d.t d.u",
  "LOAD DATA LOCAL INFILE '../../tmp/SQL_LOAD-1' REPLACE INTO TABLE `t` FIELDS TERMINATED BY '\\t' (`a`)": "rows d.t",
  "LOAD XML INFILE 'x' INTO TABLE s.t": "rows s.t",
  "WITH RECURSIVE x (a) AS (SELECT 1 UNION SELECT 2), y AS (SELECT 3) DELETE FROM t WHERE id IN (SELECT a FROM x)": "rows d.t",
  "WITH x AS (SELECT 1) UPDATE t, x SET t.a=1": "rows d.t d.x",
};

const NOTHING = [
  "CREATE DEFINER=`root`@`%` TRIGGER x BEFORE INSERT ON t FOR EACH ROW BEGIN SET NEW.a='it''s'; END",
  "CREATE DEFINER=`r`@`l` PROCEDURE p() BEGIN SELECT 1; ALTER TABLE t ADD c INT; END",
  "CREATE ALGORITHM=UNDEFINED DEFINER=`r`@`l` SQL SECURITY DEFINER VIEW v AS SELECT 1", "CREATE OR REPLACE VIEW v AS SELECT 1", "ALTER VIEW v AS SELECT 2", "DROP VIEW IF EXISTS v",
  "DROP TRIGGER x", "DROP PROCEDURE p", "DROP FUNCTION f", "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO DELETE FROM t", "ALTER EVENT e DISABLE ON SLAVE", "ALTER SQL SECURITY INVOKER VIEW v AS SELECT 1",
  "CREATE FUNCTION f() RETURNS INT LANGUAGE JAVASCRIPT AS $$ return 'x $$", "CREATE FUNCTION f RETURNS STRING SONAME 'x.so'", "CREATE AGGREGATE FUNCTION f RETURNS INT SONAME 'x'", "CREATE LIBRARY l LANGUAGE JAVASCRIPT AS 'x'",
  "GRANT ALL ON *.* TO u@h", "REVOKE ALL ON a.* FROM u", "CREATE USER u IDENTIFIED BY 'x'", "ALTER USER u IDENTIFIED WITH 'caching_sha2_password' AS '\x01'", "DROP USER u", "SET PASSWORD FOR u = 'x'", "CREATE ROLE r", "DROP ROLE r",
  "SET DEFAULT ROLE r TO u", "FLUSH PRIVILEGES", "ANALYZE NO_WRITE_TO_BINLOG TABLE t UPDATE HISTOGRAM ON c WITH 10 BUCKETS", "OPTIMIZE TABLE t, u", "REPAIR TABLE t", "CHECK TABLE t", "CACHE INDEX t IN c", "LOAD INDEX INTO CACHE t",
  "CREATE TABLESPACE ts ADD DATAFILE 'x.ibd'", "DROP UNDO TABLESPACE u", "ALTER TABLESPACE ts RENAME TO u", "CREATE LOGFILE GROUP g ADD UNDOFILE 'x'", "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'x')", "ALTER SERVER s OPTIONS (USER 'x')",
  "CREATE SPATIAL REFERENCE SYSTEM 4120 NAME 'x' DEFINITION 'GEOGCS[]'", "DROP SPATIAL REFERENCE SYSTEM IF EXISTS 4120", "CREATE OR REPLACE SPATIAL REFERENCE SYSTEM 4120 NAME 'x' DEFINITION ''", "CREATE RESOURCE GROUP g TYPE=USER", "ALTER INSTANCE ROTATE INNODB MASTER KEY",
  "INSTALL PLUGIN p SONAME 'x.so'", "UNINSTALL COMPONENT 'file://x'", "CREATE SEQUENCE s", "DROP TEMPORARY SEQUENCE s", "ALTER SEQUENCE s RESTART 5", "CREATE OR REPLACE PACKAGE BODY p AS END", "CREATE JSON RELATIONAL DUALITY VIEW v AS SELECT 1", "CREATE MATERIALIZED VIEW v AS SELECT 1",
  "SAVEPOINT `a`", "ROLLBACK TO `a`", "RELEASE SAVEPOINT a", "BEGIN", "COMMIT", "XA START 'x'", "START TRANSACTION", "# Dummy event replacing event type 160 that slave cannot handle.", "", " ; ", "-- x", "/* nothing */",
];

describe("statements", () => {
  it.each(Object.entries(CASES))("%s", (sql, expected) => {
    expect(line(sql)).toBe(expected);
  });

  it.each(NOTHING)("nothing to do with tables: %s", (sql) => {
    expect(line(sql)).toBe("none");
  });

  it.each([
    "ALTER FOO t ADD c INT", "CREATE FOO f", "DROP FOO f", "FROBNICATE t", "SELECT f()", "CALL p()", "DO f()", "(SELECT 1)", "'x'", "ALTER TABLE t ADD c INT COMMENT 'no end", "ALTER TABLE `t ADD c INT", "/* no end", "ALTER TABLE",
    "RENAME TABLE a b", "RENAME TABLE a TO b c", "TRUNCATE TABLE t u", "ALTER TABLE t ADD (a INT", "ALTER TABLE t ADD a INT)", "CREATE TABLE t (a int", "CREATE TABLE t LIKE u v", "DELETE t", "LOAD DATA INFILE 'x'", "WITH x AS (SELECT 1) SELECT 2",
    "CREATE TEMPORARY FOO f", "IMPORT TABLE FROM 'x.sdi'", "ALTER DATABASE d CHARACTER SET 'a b'", "ALTER TABLE t ADD c INT; DROP TABLE u", "ALTER TABLE t /*!80000 ADD /*!80023 c */ INT */",
  ])("cannot be classified: %s", (sql) => {
    expect(() => line(sql)).toThrow(UnreadableStatement);
  });

  it("an error does not quote what may be values", () => {
    expect(() => line("SELECT 'secret'")).toThrow(/^there is SELECT at byte 0, where Drover does not expect it$/);
    expect(() => line("TRUNCATE TABLE t 'secret'")).toThrow(/^there is a string at byte 17/);
  });
});

describe("modes", () => {
  it("double quotes are names under ANSI_QUOTES and strings without it", () => {
    expect(line('ALTER TABLE "t""x" ADD "c" INT DEFAULT \'"\'', { ansiQuotes: true })).toBe('alter d.t"x');
    expect(() => line('ALTER TABLE "t" ADD c INT')).toThrow(UnreadableStatement);
    expect(line('ALTER TABLE t ADD c INT COMMENT "RENAME TO ""x"', {})).toBe("alter d.t");
  });

  it("a backslash escapes a quote, but not under NO_BACKSLASH_ESCAPES, and never in a name", () => {
    expect(line("ALTER TABLE t COMMENT 'a\\', RENAME TO u, COMMENT \\''")).toBe("alter d.t");
    expect(line("ALTER TABLE t COMMENT 'a\\', RENAME TO u, COMMENT \\''", { noBackslashEscapes: true })).toBe("alter d.t renameTo=d.u");
    expect(line("ALTER TABLE `t\\` RENAME TO u")).toBe("alter d.t\\ renameTo=d.u");
  });
});

describe("character sets", () => {
  const bytes = (charset: string, sql: string) => describeStatement(readStatement(sql, { charset, ansiQuotes: false, noBackslashEscapes: false, schema: "d", decode: (name) => Buffer.from(name, "latin1").toString("hex") }).statement);

  it.each([
    ["sjis", "\x95\x5c"], ["sjis", "\x83\x60"], ["cp932", "\xfa\x60"], ["gbk", "\x81\x5c"], ["gbk", "\x81\x60"], ["big5", "\xa5\x5c"], ["gb18030", "\x81\x30\x81\x30"], ["gb18030", "\x84\x60"], ["latin1", "\xe9"], ["ujis", "\x8f\xa2\xaf"],
  ])("%s: a character whose bytes hold a quote or a backslash does not end a name or a string", (charset, character) => {
    const hex = Buffer.from(character, "latin1").toString("hex");
    expect(bytes(charset, `ALTER TABLE \`${character}\` COMMENT '${character}', RENAME TO x${character}`)).toBe(`alter d.${hex} renameTo=d.78${hex}`);
  });

  it.each([["latin1", "\xa0"], ["cp866", "\xff"], ["macroman", "\xca"]])("%s: a no-break space is a space", (charset, space) => {
    expect(bytes(charset, `ALTER TABLE${space}t${space}RENAME u`)).toBe("alter d.74 renameTo=d.75");
  });

  it("a set that is not made of ASCII stops", () => {
    expect(() => bytes("swe7", "TRUNCATE t")).toThrow(UnreadableStatement);
  });
});

describe("places", () => {
  it("names and version comments are found at their bytes", () => {
    const sql = "ALTER TABLE `é` . `t` ADD x INT /*!80023 INVISIBLE */, ADD FOREIGN KEY (a) REFERENCES p (id) /*!50100 ON DELETE CASCADE*/";
    const encoded = Buffer.from(sql, "utf8").toString("latin1");
    const { statement, marks } = read(sql);
    const at = ({ start, end }: { start: number; end: number }) => Buffer.from(encoded.slice(start, end), "latin1").toString("utf8");
    expect(statement.kind === "alter" && [at(statement.table), ...statement.references.map(at)]).toEqual(["`é` . `t`", "p"]);
    expect(marks.map(at)).toEqual(["/*!80023", "*/", "/*!50100", "*/"]);
  });
});
