import { expect, test } from "vitest"
import { showHidden } from "./show-hidden.ts"
import { escapeControls, escapeHidden } from "./hidden-characters.ts"

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
  ["1\uFE0F\u20E3 and \u2600\uFE0F", "1\uFE0F\u20E3 and \u2600\uFE0F"],
  ["bytes \u{1F60A}\uFE01\uFE02\uFE0F", "bytes \u{1F60A}\uFE01⟨U+FE02⟩⟨U+FE0F⟩"],
  ["beside nothing \uFE0F", "beside nothing ⟨U+FE0F⟩"],
  ["tags that stand for no letter \u{E0002}\u{E0F00}", "tags that stand for no letter ⟨U+E0002⟩⟨U+E0F00⟩"],
])("%j is drawn as %j", (text, drawn) => {
  expect(escapeHidden(text)).toBe(drawn)
})

test("output to a pipe has code points instead of controls and direction changes, and all else unchanged", () => {
  const text = "a\u202Eb\u2066c\u2069 \u001b[31m \u200F שלום 👩‍👩‍👧\n\t"
  expect(escapeControls(text)).toBe("a⟨U+202E⟩b⟨U+2066⟩c⟨U+2069⟩ ⟨U+001B⟩[31m \u200F שלום 👩‍👩‍👧\n\t")
})

test("output to a pipe has the code point of a carriage return inside a line, because the text after it would hide the text before", () => {
  expect(escapeControls("Deletes everything\rReads a file\r\n\r")).toBe(
    "Deletes everything⟨U+000D⟩Reads a file\r\n⟨U+000D⟩",
  )
})

test("what is marked as hidden for a model is shown to a person, too", () => {
  const isHidden = /[\p{Default_Ignorable_Code_Point}\uFFF9-\uFFFB]/u
  for (let code = 0; code < 0x110000; code++) {
    const character = String.fromCodePoint(code)
    if (!isHidden.test(character)) continue
    expect(escapeHidden(` ${character}${character}`)).not.toContain(character)
    expect(showHidden(`a${character}${character}`)).toBe("a⟨2 hidden characters⟩")
  }
})
