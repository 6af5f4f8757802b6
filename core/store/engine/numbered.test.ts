import { describe, expect, test } from "vitest"
import { numberPlaceholders, toQuery } from "./numbered.ts"

describe("placeholders are numbered where PostgreSQL expects them", () => {
  test.each([
    ["SELECT ?, ?", "SELECT $1, $2"],
    ["SELECT 'a?', ?", "SELECT 'a?', $1"],
    ["SELECT 'a''?', ?", "SELECT 'a''?', $1"],
    [String.raw`SELECT 'a\', ?`, String.raw`SELECT 'a\', $1`],
    [String.raw`SELECT E'it\'s ?', ?`, String.raw`SELECT E'it\'s ?', $1`],
    [String.raw`SELECT e'a''\'?', ?`, String.raw`SELECT e'a''\'?', $1`],
    [String.raw`SELECT E'\\', ?`, String.raw`SELECT E'\\', $1`],
    // The last letter of a name is no prefix.
    [String.raw`SELECT date'a\', ?`, String.raw`SELECT date'a\', $1`],
    ['SELECT "a?" FROM b WHERE c = ?', 'SELECT "a?" FROM b WHERE c = $1'],
    ["SELECT $$a ? b$$, ?", "SELECT $$a ? b$$, $1"],
    ["SELECT $it$a $$ ? $$ $other$ b$it$, ?", "SELECT $it$a $$ ? $$ $other$ b$it$, $1"],
    // No dollar quote begins within a name.
    ["SELECT a$$, ? FROM b$$", "SELECT a$$, $1 FROM b$$"],
    ["SELECT a -- why?\n, ?", "SELECT a -- why?\n, $1"],
    ["SELECT /* a? */ ?", "SELECT /* a? */ $1"],
    ["SELECT /* a /* ? */ b ? */ ?", "SELECT /* a /* ? */ b ? */ $1"],
  ])("%s", (text, expected) => {
    expect(numberPlaceholders(text, expected.match(/\$\d/g)?.length ?? 0)).toBe(expected)
  })

  test.each(["SELECT 'a ?", 'SELECT "a ?', "SELECT $a$ ?", "SELECT /* /* */ ?", String.raw`SELECT E'a\'?`, "-- ?"])(
    "what has no end goes to the end: %s",
    (text) => expect(numberPlaceholders(text, 0)).toBe(text),
  )
})

test.each([
  ["SELECT data ? 'k' WHERE a = ?", 1, 2],
  ["SELECT ?", 2, 1],
])("%s with %i value(s) is refused with a sentence", (text, values, places) => {
  const query = () => toQuery(text, Array<number>(values).fill(1))
  expect(query).toThrow(`${places} place(s) for values (?) and ${values} value(s): ${text}`)
})

test("a statement without values is sent unchanged", () => {
  expect(toQuery("SELECT data ? 'k'", [])).toEqual({ text: "SELECT data ? 'k'", values: [] })
})
