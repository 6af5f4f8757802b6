import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { printable, printableLines } from "./printable.ts"

test("no control character is left, and escaping twice changes nothing", () => {
  const everything = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code)).join("")
  const shown = printable(`${everything}\u{e0041}\ufeff\ud800`)
  expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u)
  expect(printable(shown)).toBe(shown)
})

test("a name with a line break stays one line, a text of two lines is two", () => {
  expect(printable("a\nb\tc")).toBe("a⟨U+000A⟩b    c")
  expect(printableLines("a\r\nb\rc")).toEqual(["a", "b⟨U+000D⟩c"])
})

test("ordinary names and emoji stay unchanged", () => {
  expect(printable("👩‍👩‍👧 é 漢 עברית")).toBe("👩‍👩‍👧 é 漢 עברית")
})

test("only Lines draws text, and only the first prompt and the erasing bypass Ink", () => {
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
  expect(readFileSync(join(import.meta.dirname, "screen", "lines.ts"), "utf8")).toMatch(/printable\(text\)/)
})
