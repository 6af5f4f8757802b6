import fc from "fast-check"
import { expect, test } from "vitest"
import { escapeAllBidi, escapeBidi } from "./escape-bidi.ts"

test.each([
  ["an override, also one that ends", "a\u202Eb\u202Cc", "a⟨U+202E⟩b⟨U+202C⟩c"],
  ["an embedding without an end", "a\u202Bb", "a⟨U+202B⟩b"],
  ["an isolate that ends on the next line", "a\u2067b\nc\u2069", "a⟨U+2067⟩b\nc⟨U+2069⟩"],
  ["an end without a beginning", "a\u2069b\u202C", "a⟨U+2069⟩b⟨U+202C⟩"],
  ["an isolate around an override", "\u2066a\u202Eb\u2069", "⟨U+2066⟩a⟨U+202E⟩b⟨U+2069⟩"],
])("%s is written out", (_, text, shown) => expect(escapeBidi(text)).toBe(shown))

test.each([
  "שלום \u2066Pawl 2.0\u2069 עולם\u200F!",
  "مرحبا \u202Bبالعالم\u202C\u061C",
  "\u2068a \u2067b\u2069 c\u2069",
  "plain",
])("%s stays as it is", (text) => expect(escapeBidi(text)).toBe(text))

test("in any text, each remaining control belongs to a pair on its line, and no override remains", () => {
  const text = fc.string({
    unit: fc.constantFrom("a", "ש", "\n", ..."\u202A\u202B\u202C\u202D\u202E\u2066\u2067\u2068\u2069"),
  })
  fc.assert(
    fc.property(text, (given) => {
      const shown = escapeBidi(given)
      expect(shown).not.toMatch(/[\u202D\u202E]/)
      for (const line of shown.split("\n")) {
        let left = line
        for (let before = ""; before !== left;) {
          before = left
          left = left.replace(
            /[\u202A\u202B][^\u202A-\u202E\u2066-\u2069]*\u202C|[\u2066-\u2068][^\u202A-\u202E\u2066-\u2069]*\u2069/g,
            "",
          )
        }
        expect(left).not.toMatch(/[\u202A-\u202E\u2066-\u2069]/)
      }
      expect(escapeBidi(shown)).toBe(shown)
      expect(escapeAllBidi(given)).not.toMatch(/[\u202A-\u202E\u2066-\u2069]/)
    }),
  )
})
