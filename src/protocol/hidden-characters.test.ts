import { expect, test } from "vitest"
import { escapeHidden } from "./hidden-characters.ts"

test.each([
  ["plain text, ünïcode and 漢字 stay", "plain text, ünïcode and 漢字 stay"],
  ["lines\nand\ttabs", "lines\nand\ttabs"],
  ["a\u202Eb", "a⟨U+202E⟩b"],
  ["zero\u200Bwidth\uFEFF", "zero⟨U+200B⟩width⟨U+FEFF⟩"],
  ["bell\u0007 \u001b[31m", "bell⟨U+0007⟩ ⟨U+001B⟩[31m"],
  ["tag\u{E0041}", "tag⟨U+E0041⟩"],
  ["\u2066isolated\u2069", "⟨U+2066⟩isolated⟨U+2069⟩"],
  ["filler\u3164", "filler⟨U+3164⟩"],
  ["private \uE000", "private ⟨U+E000⟩"],
  ["half \uD800", "half ⟨U+D800⟩"],
  ["👩‍👩‍👧 and ❤️‍🔥", "👩‍👩‍👧 and ❤️‍🔥"],
  ["a\u200Db", "a⟨U+200D⟩b"],
])("%j is drawn as %j", (text, drawn) => {
  expect(escapeHidden(text)).toBe(drawn)
})
