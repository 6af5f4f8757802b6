import { expect, test } from "vitest"
import { countWork } from "../../../test/support/worked.ts"
import { toJson } from "./json.ts"

test.each([
  ['{"a": [1, null, "x"], "b": {"c": 1.1}}', { a: [1, null, "x"], b: { c: 1.1 } }],
  ["-12.5", -12.5],
  ['"a: {\\" }"', 'a: {" }'],
  ['{"a:{": "}"}', { "a:{": "}" }],
  ["null", null],
  ["[]", []],
])("JSON is parsed if it can be written back unchanged: %s", (text, value) => {
  expect(toJson(text)).toEqual(value)
})

const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels)

test.each([
  ["a key that is named twice", '{"a": 1, "b": {"c": 1, "c": 2}}'],
  ["a number that is not exact", '{"id": 12345678901234567890}'],
  ["one that is too large", "[1e400]"],
  ["zeros that its writer kept", '{"price": 1.0}'],
  ["a zero below zero", "[-0]"],
  ["an exponent", "[1e3]"],
  ["half of a pair", '{"a": "\\ud800"}'],
  ["a NUL", '["\\u0000"]'],
  ["many levels", deep(101)],
  ["so many that a stack would not hold them", deep(30_000)],
])("it stays text with %s", (_, text) => {
  expect(toJson(text)).toBe(text)
})

test.each(["", "{", "{'a': 1}", "no JSON", '"', "\\", "[1,]", "01", '{"a": 1} {"b": 2}'])(
  "what is called JSON and is none stays the text it is: %s",
  (text) => expect(toJson(text)).toBe(text),
)

test.each([
  ["a quote that is never closed", `"${'\\"'.repeat(30_000)}`],
  ["only quotes", `${'"\\'.repeat(30_000)}x`],
  ["only digits", "1".repeat(60_000)],
  ["numbers that are none", "1e+".repeat(20_000)],
])("%s is read in linear time", (_, text) => {
  const worked = countWork()
  expect(toJson(text)).toBe(text)
  expect(worked()).toBeLessThan(200)
})

test("megabytes of it are read in linear time", () => {
  const text = `[${"[],".repeat(2_600_000)}[]]`
  const before = process.cpuUsage()
  expect(toJson(text)).toBe(text)
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1000).toBeLessThan(50)
})
