import { expect, test } from "vitest"
import { toShown, toShownLines } from "./shown.ts"

test("no character that is an order to a terminal is left, and doing it twice changes nothing", () => {
  const everything = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code)).join("")
  const shown = toShown(`${everything}\u{e0041}\ufeff\ud800`)
  expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u)
  expect(toShown(shown)).toBe(shown)
})

test("a name of two lines stays one line, a text of two lines is two", () => {
  expect(toShown("a\nb\tc")).toBe("a⟨U+000A⟩b    c")
  expect(toShownLines("a\r\nb\rc")).toEqual(["a", "b⟨U+000D⟩c"])
})

test("people stay people", () => {
  expect(toShown("👩‍👩‍👧 é 漢 עברית")).toBe("👩‍👩‍👧 é 漢 עברית")
})
