import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
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

test("there is one way to the screen: Lines alone draws text, and nobody writes past Ink but what makes room", () => {
  const all = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" })
  const sources = all.filter((name) => /(?<!\.test)\.ts$/.test(name)).toSorted()
  const holding = (pattern: RegExp) =>
    sources.filter((name) => pattern.test(readFileSync(join(import.meta.dirname, name), "utf8")))
  expect(holding(/import [^\n]*\bText\b[^\n]* from "ink"|"ink-text"/)).toEqual(["screen/lines.ts"])
  expect(holding(/\b(stdout|stderr)\.write\(|console\./)).toEqual([
    "screen/erase-below.ts",
    "screen/screen.ts",
    "screen/show-screen.ts",
  ])
  expect(readFileSync(join(import.meta.dirname, "screen", "lines.ts"), "utf8")).toMatch(/toShown\(text\)/)
})
