import fc from "fast-check"
import { expect, test } from "vitest"
import { growthOf } from "../test/support/worked.ts"
import { formatSql } from "./format-sql.ts"

test.each<[what: string, sql: string, lines: string[]]>([
  [
    "a line for each clause",
    "SELECT strftime('%Y-%m', purchase.bought_on) AS month, round(sum(line.quantity * line.price_cents) / 100.0, 2) AS revenue FROM purchase_line line JOIN purchase ON purchase.id = line.purchase_id WHERE purchase.bought_on LIKE '2025-%' GROUP BY 1 ORDER BY 1",
    [
      "SELECT strftime('%Y-%m', purchase.bought_on) AS month,",
      "  round(sum(line.quantity * line.price_cents) / 100.0, 2) AS revenue",
      "FROM purchase_line line",
      "JOIN purchase ON purchase.id = line.purchase_id",
      "WHERE purchase.bought_on LIKE '2025-%'",
      "GROUP BY 1",
      "ORDER BY 1",
    ],
  ],
  [
    "a query in a query",
    "SELECT name FROM (SELECT name, count(*) AS n FROM customer LEFT JOIN town USING (id) GROUP BY name) WHERE n > 5 LIMIT 3",
    [
      "SELECT name",
      "FROM (",
      "  SELECT name, count(*) AS n",
      "  FROM customer",
      "  LEFT JOIN town USING (id)",
      "  GROUP BY name",
      ")",
      "WHERE n > 5",
      "LIMIT 3",
    ],
  ],
  [
    "words in strings, names and comments are no clauses",
    `SELECT 'from where it''s' AS "order by", /* group by */ [limit] FROM t WHERE a = 'x -- y' UNION ALL SELECT 1, 2`,
    [
      `SELECT 'from where it''s' AS "order by", /* group by */ [limit]`,
      "FROM t",
      "WHERE a = 'x -- y'",
      "UNION ALL",
      "SELECT 1, 2",
    ],
  ],
])("%s", (_, sql, lines) => {
  expect(formatSql(sql).split("\n")).toEqual(lines)
})

test.each([
  ["short ones", "SELECT 1 FROM t"],
  ["what is not sure to be read alike", `SELECT E'it\\'s from' AS a, ${"b, ".repeat(30)} c FROM t`],
  ["what is laid out already", `SELECT a\n\nFROM t -- ${"x".repeat(100)}`],
])("%s stay as they are", (_, sql) => {
  expect(formatSql(sql)).toBe(sql)
})

test("only whitespace changes, and formatting again changes nothing", () => {
  const piece = fc.constantFrom(
    "select",
    "FROM",
    " ",
    "a",
    ".",
    "(",
    ")",
    ",",
    "'x y'",
    "'",
    '"',
    "--",
    "/*",
    "*/",
    "$$",
    "GROUP",
    "BY",
    "left",
    "join",
    "1.5",
    "::",
    "—",
    "\\",
    "[",
    "and",
    "[a b]",
  )
  fc.assert(
    fc.property(fc.array(piece, { minLength: 30, maxLength: 80 }), (pieces) => {
      const sql = pieces.join("")
      const made = formatSql(sql)
      expect(made.replaceAll(/\s+/g, "")).toBe(sql.replaceAll(/\s+/g, ""))
      expect(formatSql(made)).toBe(made)
      // A line comment still has the same text after it.
      expect(made.match(/'(?:[^']|'')*'/g)?.length ?? 0).toBe(sql.match(/'(?:[^']|'')*'/g)?.length ?? 0)
    }),
    { numRuns: 300 },
  )
})

test.each([",", "a, ", "a b "])("input of only %j takes time in proportion to its length", async (piece) => {
  const read = (length: number) => () => formatSql(piece.repeat(length / piece.length))
  expect(await growthOf({ small: read(4800), large: read(19_200), most: 8 })).toBeLessThanOrEqual(8)
})
