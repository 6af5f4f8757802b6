import { expect, test } from "vitest"
import type { Item } from "../../../client/index.ts"
import { outdatedResults } from "./outdated-results.ts"

const result = (resultId: string, sql: string, resultHash: string, connectionId = "conn_1") =>
  ({ type: "call", data: { resultId, sql, resultHash, connectionId } }) as unknown as Item

test("another question makes no result old; the same SQL with other rows does", () => {
  const [a, chartOfA, b] = [result("a", "SELECT 1", "x"), result("a", "SELECT 1", "x"), result("b", "SELECT 2", "y")]
  expect(outdatedResults([a, chartOfA, b])).toEqual(new Set())
  expect(outdatedResults([a, b, result("c", "SELECT 1", "x")])).toEqual(new Set())
  expect(outdatedResults([a, b, result("c", "SELECT 1", "z")])).toEqual(new Set(["a"]))
  expect(outdatedResults([a, result("c", "SELECT 1", "z", "conn_2")])).toEqual(new Set())
  expect(outdatedResults([{ type: "call", data: null } as unknown as Item, a])).toEqual(new Set())
})
