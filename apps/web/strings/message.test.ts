import { expect, test } from "vitest"
import { fillMessage, parseMessage } from "./message.ts"

const filled = (message: string, values: Record<string, unknown> = {}, locale = "en"): string =>
  fillMessage(parseMessage(message), values, locale).join("")

test("values are inserted at their names, and numbers are formatted for the locale", () => {
  expect(filled("{name} has {count} rows", { name: "Shop", count: 12_345.5 })).toBe("Shop has 12,345.5 rows")
  expect(filled("{count, number} Zeilen", { count: 12_345.5 }, "de")).toBe("12.345,5 Zeilen")
})

test("a plural chooses its case by the rules of the language, an exact number first, and # is the number", () => {
  const rows = "{count, plural, =0 {no rows} one {# row} other {# rows}}"
  expect([0, 1, 2, 1000].map((count) => filled(rows, { count }))).toEqual(["no rows", "1 row", "2 rows", "1,000 rows"])
  // French has one form for zero and one.
  expect(filled("{count, plural, one {# ligne} other {# lignes}}", { count: 0 }, "fr")).toBe("0 ligne")
})

test("cases hold whole messages: other values, other plurals, tags", () => {
  const message = "{kind, select, file {<b>{name}</b> ({size, plural, one {# byte} other {# bytes}})} other {{name}}}"
  const bold = (inner: unknown[]) => `*${inner.join("")}*`
  expect(filled(message, { kind: "file", name: "a.txt", size: 1, b: bold })).toBe("*a.txt* (1 byte)")
  expect(filled(message, { kind: "anything", name: "a.txt", size: 1 })).toBe("a.txt")
})

test("an apostrophe is text, unless it precedes a syntax character, which it then quotes", () => {
  expect(filled("It’s Ada's '{name}' and '<b>', isn''t it")).toBe("It’s Ada's {name} and <b>, isn't it")
  expect(filled("# is a number only in a plural")).toBe("# is a number only in a plural")
})

test("a value that is missing is seen by its name, and one that looks like a message is not read as one", () => {
  expect(filled("Hello {name}")).toBe("Hello {name}")
  expect(filled("Hello {name}", { name: "{count} <b>x</b> #" })).toBe("Hello {count} <b>x</b> #")
})

test.each([
  ["{", "a name"],
  ["{name", '","'],
  ["{count, plural, one {x}}", "a case “other” for count"],
  ["{count, spellout}", "number, plural or select"],
  ["a } b", "the end of the message"],
  ["<b>x", '"</b>"'],
  ["<b>x</i>", '"</b>"'],
  ["'{never closed", "a closing apostrophe"],
])("%s is refused with the expected syntax and the position", (message, expected) => {
  expect(() => parseMessage(message)).toThrow(`Expected ${expected} at position`)
})
