import { describe, expect, it } from "vitest";
import { obstacles, translateItem, translateTail, writtenAs } from "../../../src/shared/columns/create-dialect.js";
import type { TableDefinition } from "../../../src/shared/columns/table-definition.js";

const OF = { schema: "shop", table: "t" };

describe("an item in the other family's words", () => {
  it.each([
    ["`a b` geomcollection DEFAULT NULL", "`a b` geometrycollection DEFAULT NULL"],
    ["`geomcollection` varchar(9) DEFAULT ' geomcollection /*!80023 INVISIBLE */'", "`geomcollection` varchar(9) DEFAULT ' geomcollection /*!80023 INVISIBLE */'"],
    ["`i` int DEFAULT '5' /*!80023 INVISIBLE */", "`i` int DEFAULT '5' INVISIBLE"],
    ["KEY `k` (`c`) /*!80000 INVISIBLE */", "KEY `k` (`c`) IGNORED"],
    ["CONSTRAINT `c` CHECK ((`a` > 1)) /*!80016 NOT ENFORCED */", null],
    ["`v` varchar(9) GENERATED ALWAYS AS (concat(`_utf8mb4`,_utf8mb4'a\\\\b\\'_utf8mb4',_latin1'plain')) STORED", "`v` varchar(9) GENERATED ALWAYS AS (concat(`_utf8mb4`,'a\\\\b\\'_utf8mb4',_latin1'plain')) STORED"],
  ])("for MariaDB: %s", (item, expected) => expect(translateItem(item, OF, "mysql", "mariadb")).toBe(expected));

  it.each([
    ["`u` varchar(40) DEFAULT uuid()", "`u` varchar(40) DEFAULT (uuid())"],
    ["`t` text DEFAULT 'a ''b'' COMMENT c' COMMENT 'x'", "`t` text DEFAULT ('a ''b'' COMMENT c') COMMENT 'x'"],
    ["`n` int(11) DEFAULT -7", "`n` int(11) DEFAULT -7"],
    ["`x` int(11) DEFAULT (1 + 2) CHECK (`x` > 0)", "`x` int(11) DEFAULT ((1 + 2)) CHECK (`x` > 0)"],
    ["`e` datetime(3) DEFAULT current_timestamp(3) ON UPDATE current_timestamp(3)", "`e` datetime(3) DEFAULT current_timestamp(3) ON UPDATE current_timestamp(3)"],
    ["`b` blob DEFAULT NULL", "`b` blob DEFAULT NULL"],
    ["`c` varchar(9) COMMENT ' DEFAULT uuid()'", "`c` varchar(9) COMMENT ' DEFAULT uuid()'"],
    ["`g` geometry REF_SYSTEM_ID=4326 DEFAULT NULL", "`g` geometry DEFAULT NULL"],
    ["KEY `k` (`c`) IGNORED", "KEY `k` (`c`) INVISIBLE"],
  ])("for MySQL: %s", (item, expected) => expect(translateItem(item, OF, "mariadb", "mysql")).toBe(expected));

  it.each(["_latin1 X'E9'", "_latin1'it\\'s'", "_utf8mb4 0xF09F9880", "_gbk'\u4e2d'"])("a literal that MariaDB would change is refused: %s", (literal) =>
    expect(() => translateItem(`CONSTRAINT \`c\` CHECK ((\`a\` <> ${literal}))`, OF, "mysql", "mariadb")).toThrow(/expression of c of shop.t has a literal of the character set/));

  it("stays as it is within one family", () => {
    expect(translateItem("KEY `k` (`c`) /*!80000 INVISIBLE */", OF, "mysql", "mysql")).toBe("KEY `k` (`c`) /*!80000 INVISIBLE */");
    expect(translateTail(" ENGINE=InnoDB `PAGE_COMPRESSED`=1", "mariadb", "mariadb")).toBe(" ENGINE=InnoDB `PAGE_COMPRESSED`=1");
  });

  it("leaves out how MariaDB lays a table on disk, but no word of a comment", () => {
    expect(translateTail(" ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 `PAGE_COMPRESSED`=1 `ENCRYPTED`=YES COMMENT='a PAGE_CHECKSUM=1' `PAGE_COMPRESSION_LEVEL`='3'", "mariadb", "mysql")).toBe(" ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COMMENT='a PAGE_CHECKSUM=1'");
  });
});

const column = (name: string, dataType: string, more = {}) => ({ name, dataType, columnType: dataType, charset: null, collation: null, nullable: true, unsigned: false, generated: null, invisible: false, autoIncrement: false, ...more });
const table = (more: Partial<TableDefinition>): TableDefinition => ({ schema: "s", table: "t", engine: "InnoDB", columns: [], indexes: [], key: null, createStatement: "CREATE TABLE `t` (\n  `h` int NOT NULL\n)", rowsEstimated: 0, rowBytesEstimated: 0, ...more });

describe("what the other family does not have", () => {
  it("is named with a cure", () => {
    const mysql = table({ columns: [column("v", "vector"), column("h", "int", { invisible: true, nullable: false })], indexes: [{ name: "e", unique: false, kind: "btree", parts: [{ column: null, prefix: null }] }] });
    expect(obstacles(mysql, "mariadb").map(({ code }) => code)).toEqual(["column-type", "column-invisible", "index-expression"]);
    expect(obstacles(mysql, "mysql")).toEqual([]);
    expect(obstacles(table({ family: "mariadb", columns: [column("u", "uuid")] }), "mysql")[0]).toMatchObject({ message: expect.stringContaining("column u of s.t"), cure: expect.stringContaining("leave the table out") });
  });

  it("MySQL's JSON is written as text where JSON is text", () => {
    const mysql = table({ columns: [column("j", "json"), column("i", "int")] });
    expect(writtenAs(mysql, "mariadb").columns.map(({ dataType }) => dataType)).toEqual(["longtext", "int"]);
    expect(writtenAs(mysql, "mysql")).toBe(mysql);
  });
});
