import { describe, expect, it } from "vitest";
import { addIndexStatements, createStatement } from "../../../src/shared/columns/create-statement.js";
import { blankQuoted, parseShowCreate, quotedName, referencedTables, shapeOf, shownCounter } from "../../../src/shared/columns/show-create.js";
import { column, index, table } from "./definitions.js";

describe("the AUTO_INCREMENT counter", () => {
  const shown = (comment: string, counter: string, options = "") => `CREATE TABLE \`t\` (\n  \`id\` int NOT NULL AUTO_INCREMENT COMMENT '${comment}',\n  PRIMARY KEY (\`id\`)\n) ENGINE=InnoDB${counter} DEFAULT CHARSET=utf8mb4${options}`;

  it("is no part of the shape", () => {
    expect(shapeOf(shown("c", " AUTO_INCREMENT=7"))).toBe(shown("c", ""));
    expect(shapeOf(shown("c", ""))).toBe(shown("c", ""));
    expect(shownCounter(shown("c", " AUTO_INCREMENT=18446744073709551615"))).toBe(18446744073709551615n);
  });

  it("is not what a comment, a default or a name says", () => {
    const quoted = "starts at AUTO_INCREMENT=1";
    expect(shapeOf(shown(quoted, " AUTO_INCREMENT=7"))).toBe(shapeOf(shown(quoted, " AUTO_INCREMENT=8")));
    // The comment is all that changed.
    expect(shapeOf(shown(quoted, ""))).not.toBe(shapeOf(shown("starts at AUTO_INCREMENT=2", "")));
    expect(shapeOf(shown("c", "", ` COMMENT='${quoted}'`))).not.toBe(shapeOf(shown("c", "", " COMMENT='starts at AUTO_INCREMENT=2'")));
    expect(shownCounter(shown(quoted, ""))).toBeNull();
  });
});

it("knows the tables that foreign keys lead to, and no other text that looks like one", () => {
  const text = "CREATE TABLE `t` (\n  `a` int COMMENT ' REFERENCES `no`',\n  CONSTRAINT `f ``1` FOREIGN KEY (`a`) REFERENCES `p``1` (`a`) ON DELETE CASCADE,\n  CONSTRAINT `g` FOREIGN KEY (`a`) REFERENCES `s.1`.`p 2` (`a`),\n  CONSTRAINT `h` CHECK (`a` <> ' REFERENCES `x`')\n) ENGINE=InnoDB";
  expect(referencedTables(text)).toEqual([{ schema: null, table: "p`1" }, { schema: "s.1", table: "p 2" }]);
});

describe("parseShowCreate", () => {
  it("keeps items whole that hold commas, parentheses, quotes and line breaks", () => {
    const items = [
      "`a` int COMMENT 'x) , \\' `y` ''z'' (',",
      "`(``,\n)` enum('a,b','c''d)') DEFAULT ')'",
      "`d` decimal(10,2) GENERATED ALWAYS AS (round((`a` * (2 + 1)),2)) VIRTUAL",
      "PRIMARY KEY (`a`,`d`)",
      "KEY `k` ((concat(`a`,_utf8mb4')'))) COMMENT 'it''s (, here'",
    ];
    items[0] = (items[0] as string).slice(0, -1);
    const tail = " ENGINE=InnoDB COMMENT=') ,'\n/*!50100 PARTITION BY RANGE (`a`) (PARTITION p VALUES LESS THAN (1)) */";
    expect(parseShowCreate(`CREATE TABLE \`x(\`\`\n\` (\n  ${items.join(",\n  ")}\n)${tail}`)).toEqual({ items, tail });
  });

  it("refuses what it does not know", () => {
    for (const text of ["", "CREATE VIEW `a` AS SELECT 1", "CREATE TABLE a (b int)", "CREATE TABLE `a` (`b` int"]) expect(() => parseShowCreate(text)).toThrow(/unknown form/);
  });

  it("finds names, not what looks like one in a comment", () => {
    expect(quotedName("`a``b` int")).toBe("a`b");
    expect(quotedName("UNIQUE KEY `u` (`a`)")).toBe("u");
    expect(quotedName("CHECK ((`a` > 1))")).toBeNull();
    expect(blankQuoted("a 'b COLLATE' `c`")).toBe(`a ${" ".repeat(11)} ${" ".repeat(3)}`);
  });
});

describe("createStatement", () => {
  const old = table([column("id", "int(11)"), column("a", "varchar(10)"), column("b", "varchar(10)", { collation: "utf8mb4_general_ci" }), column("c", "varchar(10)", { charset: "latin1", collation: "latin1_bin" })], ["id"], {
    indexes: [index("PRIMARY", ["id"]), index("k", ["a"], { unique: false }), index("ft", ["b"], { unique: false, kind: "other" })],
    createStatement: "CREATE TABLE `orders` (\n  `id` int(11) NOT NULL,\n  `a` varchar(10) DEFAULT 'x CHARACTER SET utf8mb4',\n  `b` varchar(10) CHARACTER SET utf8mb4 DEFAULT NULL,\n  `c` varchar(10) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,\n  PRIMARY KEY (`id`),\n  KEY `k` (`a`),\n  FULLTEXT KEY `ft` (`b`)\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COMMENT='DEFAULT CHARSET=utf8mb4'",
  });

  it("names the collation that MySQL 5.7 left out", () => {
    const { statements, deferred } = createStatement(old, { schema: "t", table: "o", deferIndexes: true });
    expect(statements[1]).toBe(
      "CREATE TABLE `t`.`o` (\n  `id` int(11) NOT NULL,\n  `a` varchar(10) DEFAULT 'x CHARACTER SET utf8mb4',\n  `b` varchar(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci DEFAULT NULL,\n  `c` varchar(10) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT NULL,\n  PRIMARY KEY (`id`),\n  FULLTEXT KEY `ft` (`b`)\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci COMMENT='DEFAULT CHARSET=utf8mb4'",
    );
    expect(deferred).toEqual(["ADD KEY `k` (`a`)"]);
    expect(addIndexStatements({ schema: "t", table: "o" }, deferred)[1]).toBe("ALTER TABLE `t`.`o` ADD KEY `k` (`a`)");
    expect(addIndexStatements({ schema: "t", table: "o" }, [])).toEqual([]);
  });
});
