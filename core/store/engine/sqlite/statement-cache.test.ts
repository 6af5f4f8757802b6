import { DatabaseSync } from "node:sqlite"
import { expect, test } from "vitest"
import { StatementCache } from "./statement-cache.ts"

test("a statement is prepared once, and the oldest of many are removed", () => {
  const db = new DatabaseSync(":memory:")
  const statements = new StatementCache(db, 3)
  const first = statements.prepare("SELECT 1")
  statements.prepare("SELECT 2")
  statements.prepare("SELECT 3")
  expect(statements.prepare("SELECT 1")).toBe(first)
  statements.prepare("SELECT 4")
  expect(statements.prepare("SELECT 1")).not.toBe(first)
  expect(first.all()).toHaveLength(1) // a removed statement still works for its caller
  db.close()
})
