import { expect, test } from "vitest"
import { toJson } from "./postgres-json.ts"

test.each([
  ['{"a": [1, null, "x"], "b": {"c": 1.10}}', { a: [1, null, "x"], b: { c: 1.1 } }],
  ['"a: {\\" }"', 'a: {" }'],
  ['{"a:{": "}"}', { "a:{": "}" }],
  ["null", null],
  ["[]", []],
])("JSON is JSON where all of it survives: %s", (text, value) => {
  expect(toJson(text)).toEqual(value)
})

const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels)

test.each([
  ["a key that is named twice", '{"a": 1, "b": {"c": 1, "c": 2}}'],
  ["a number that is not exact", '{"id": 12345678901234567890}'],
  ["one that is too large", "[1e400]"],
  ["half of a pair", '{"a": "\\ud800"}'],
  ["a NUL", '["\\u0000"]'],
  ["many levels", deep(101)],
  ["so many that a stack would not hold them", deep(30_000)],
])("it stays the text it is with %s", (_, text) => {
  expect(toJson(text)).toBe(text)
})

test("megabytes of it keep nobody waiting", () => {
  const text = `[${"[],".repeat(2_600_000)}[]]`
  const before = process.cpuUsage()
  expect(toJson(text)).toBe(text)
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1000).toBeLessThan(50)
})
