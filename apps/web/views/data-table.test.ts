import { expect, test } from "vitest"
import { cellText, isGrouped, sortRows, toGrouped } from "./data-table.tsx"

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

const order = (cells: readonly unknown[], isDown = false) =>
  sortRows(
    cells.map((cell) => [cell]),
    { column: 0, isDown },
  ).map(([cell]) => cell)

test("numbers go by size, also exact ones that came as text, and nothing is last either way", () => {
  expect(order([10, null, 9, -1.5])).toEqual([-1.5, 9, 10, null])
  expect(order(["10.50", "9.99", null, "-3"], true)).toEqual(["10.50", "9.99", "-3", null])
  expect(order(["9007199254740993", "9007199254740992", "9007199254740994"])).toEqual([
    ...["9007199254740992", "9007199254740993", "9007199254740994"],
  ])
})

test("words go as a reader would have them, equal ones stay in their order", () => {
  expect(order(["item 10", "Item 2", "apple", "épée"])).toEqual(["apple", "épée", "Item 2", "item 10"])
  const rows = [
    ["b", 1],
    ["a", 2],
    ["b", 3],
  ]
  expect(sortRows(rows, { column: 0, isDown: true }).map(([, place]) => place)).toEqual([1, 3, 2])
})

test("a column of this and that is words", () => {
  expect(order([{ b: 1 }, "x", 3, true])).toEqual([{ b: 1 }, 3, true, "x"])
  expect(cellText({ bytes: 1234, base64: "AAE=" })).toBe("1,234 bytes: AAE=")
  expect(cellText(null)).toBe("")
})
