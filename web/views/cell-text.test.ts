import { expect, test } from "vitest"
import { isGrouped, toGrouped } from "./cell-text.ts"

test.each([
  ["1234567.50", "1,234,567.50"],
  ["-1234", "-1,234"],
  ["-0.001", "-0.001"],
  ["12345678901234567890.123456789012345678", "12,345,678,901,234,567,890.123456789012345678"],
  ["999", "999"],
  ["1e21", "1e21"],
  ["NaN", "NaN"],
])("%s is written %s, with all of its digits", (text, written) => {
  expect(toGrouped(text)).toBe(written)
})

test.each<[name: string, cells: unknown[], isGrouped: boolean]>([
  ["revenue", [1234.5, null, "2000"], true],
  ["id", [1234], false],
  ["customer_id", [1234], false],
  ["customerId", [1234], false],
  ["year", [2024], false],
  ["bought", [1999, 2024], false],
  ["price", [1999, 20240], true],
  ["zip code", [10115], false],
  ["number", ["0123", "4567"], false],
  ["amount", ["0123", "4567"], false],
  ["huge", [1e21], false],
  ["name", ["a"], false],
  ["empty", [null], false],
])("the numbers of %s %j are grouped: %s", (name, cells, grouped) => {
  expect(isGrouped(name, cells)).toBe(grouped)
})
