import { expect, test } from "vitest"
import { sqlInReply } from "./sql-in-reply.ts"
import { countWork } from "../../../test/support/worked.ts"

test.each([
  ["alone", "SELECT 1", "SELECT 1"],
  ["with its end", "select 1 ;\n;\n", "select 1"],
  ["in a fence", "```sql\nSELECT 1;\n```", "SELECT 1"],
  ["in a fence without a language, which does not end", "```\nSELECT 1", "SELECT 1"],
  ["in the second fence", '```json\n{"select": 1}\n```\n\n```sql\nSELECT 2\n```', "SELECT 2"],
  ["in a fence, with a comment first", "```sql\n-- how many\nSELECT 1\n```", "-- how many\nSELECT 1"],
  ["after words", "With this query we count them:\n\nSELECT 1", "SELECT 1"],
  ["before words", "SELECT 1;\n\nSelect it and run it.", "SELECT 1"],
  ["over several lines", "SELECT a,\n\n  b\nFROM t", "SELECT a,\n\n  b\nFROM t"],
  ["behind a comment that talks of selecting", "/*\nselect all of them\n*/\nSELECT 1", "SELECT 1"],
  ["before a comment in its line", "```sql\nSELECT 1 /* all */\n```", "SELECT 1 /* all */"],
  [
    "behind a comment of its own line",
    "Here it is:\n-- by country\n-- and year\nSELECT 1",
    "-- by country\n-- and year\nSELECT 1",
  ],
  ["behind a comment in its line", "/* all */ SELECT 1", "/* all */ SELECT 1"],
  [
    "with a name of its own first",
    "WITH RECURSIVE n(i) AS (SELECT 1) SELECT i FROM n",
    "WITH RECURSIVE n(i) AS (SELECT 1) SELECT i FROM n",
  ],
  ["as rows", "VALUES (1), (2)", "VALUES (1), (2)"],
  ["that may not run, for the guard to say so", "DROP TABLE customer", "DROP TABLE customer"],
  ["and a second one, for the guard to say so", "SELECT 1; DELETE FROM a", "SELECT 1; DELETE FROM a"],
])("finds a statement %s", (_, reply, sql) => {
  expect(sqlInReply(reply)).toBe(sql)
})

test.each([
  "",
  "These tables say nothing about that.",
  "With these tables I cannot tell.",
  "Values are missing for 2023.",
  "Create a table first.",
  "```json\n{}\n```",
])("finds none in %j", (reply) => {
  expect(sqlInReply(reply)).toBeUndefined()
})

test("searches malformed replies in linear time", () => {
  const worked = countWork()
  for (const piece of ["\n", " ", "/*", "--\n", "(", "with a ", ";\n", "```", "select\n".slice(0, 3)]) {
    sqlInReply(piece.repeat(200_000))
    sqlInReply(`SELECT 1${piece.repeat(200_000)}`)
  }
  expect(worked()).toBeLessThan(3000)
})
