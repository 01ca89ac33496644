import { describe, expect, it } from "vitest";
import { filterObstacle } from "../../../src/shared/selection/filter-shape.js";

describe("a filter is one expression", () => {
  it.each([
    "region = 'eu'",
    "region = 'e;u' AND note <> '--' AND note NOT LIKE '/*%' AND a = \"#\"",
    "note = 'it''s' AND other = 'back\\'slash )'",
    "`we)ird` > (1 + 2) * 3",
    "a - -1 > b--1",
    "`now` > 1 AND t.rand = 2 AND rand = 3 AND user = 'x'",
    "created >= '2024-01-01' AND YEAR(created) = 2024",
    "doc->'$.a[0]' = 1 OR doc->>'$.b' = '@x'",
    "größe BETWEEN 1 AND 2",
    "UNIX_TIMESTAMP(created) > 0",
    "name = '`'",
    "a IN (1, 2)\n  OR b IS NULL",
  ])("takes %s", (filter) => expect(filterObstacle(filter)).toBeNull());

  it.each([
    ["1=1; DROP TABLE t", '";"'],
    ["1=1) OR (1=1", "closes a parenthesis"],
    ["(a = 1", "does not close a parenthesis"],
    ["a = 1 -- and b", "comment"],
    ["a = 1 # and b", "comment"],
    ["a = /*! 1 */ 1", "comment"],
    ["a = 'open", "does not close a '"],
    ["a = 'escaped\\'", "does not close a '"],
    ["a = `open", "does not close a `"],
    ["", "empty"],
    ["  \n", "empty"],
    ["id IN (SELECT id FROM other)", "SELECT"],
    ["id IN (TABLE other)", "TABLE"],
    ["ROW_NUMBER() OVER () = 1", "OVER"],
    ["created > NOW() - INTERVAL 1 DAY", "NOW"],
    ["created > current_timestamp", "CURRENT_TIMESTAMP"],
    ["rand() < 0.5", "RAND"],
    ["sleep (1000) = 0", "SLEEP"],
    ["created > unix_timestamp()", "UNIX_TIMESTAMP"],
    ["a = @x", "variable"],
    ["a = @@sql_mode", "variable"],
    ["shop.f(a) = 1", "stored function"],
    ["`shop` . `f` (a) = 1", "stored function"],
    ["a = ?", '"?"'],
  ])("refuses %j", (filter, what) => expect(filterObstacle(filter)?.what).toContain(what));
});
