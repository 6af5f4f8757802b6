import { createRequire } from "node:module"
import { expect, inject, test, vi } from "vitest"
import { isLong } from "../../test/support/sizes.ts"
import { lineText } from "./line.ts"
import { chop, columnLines, fit, graphemesOf, widthOf, wrap } from "./wrap.ts"

/** The width that Ink uses to cut lines. */
const { default: drawn } = createRequire(import.meta.resolve("ink"))("string-width") as {
  default: (text: string) => number
}

test("no character is wider on the screen than computed, alone or after others", () => {
  const tooNarrow: string[] = []
  for (let code = 0xa0; code <= 0x1ffff; code += isMixed(code) ? 1 : 41) {
    if (code >= 0xd800 && code <= 0xdfff) continue
    // A third of them, chosen by the seed.
    if (!isLong && code % 3 !== inject("seed") % 3) continue
    const character = String.fromCodePoint(code)
    for (const text of [character, `a${character}漢`]) {
      if (widthOf(text) < drawn(text)) tooNarrow.push(`${code.toString(16)} in ${JSON.stringify(text)}`)
    }
  }
  for (const text of ["1\ufe0f\u20e3", "#\ufe0f", "👨‍👩‍👧", "🏴‍☠️", "ｶﾞ", "क्षि"]) {
    if (widthOf(text) < drawn(text)) tooNarrow.push(text)
  }
  expect(tooNarrow).toEqual([])
}, 120_000)

/** Most neighbours are alike and need no test. */
const isMixed = (code: number): boolean =>
  code < 0x3400 || (code > 0xf8ff && code < 0x10000) || (code >= 0x1d000 && code < 0x1fc00)

test("text is cut between graphemes", () => {
  expect(fit("a漢b", 2)).toEqual({ head: "a", rest: "漢b" })
  expect(widthOf("👍🏽")).toBeGreaterThanOrEqual(2)
})

test("it is cut at the same positions whether all of it is read or only what is needed", () => {
  const parts = [
    "a",
    "é",
    "e\u0301",
    "漢",
    "👍🏽",
    "👨‍👩‍👧",
    "🇨🇭",
    "🇩🇪",
    " ",
    "क्षि",
    "x".repeat(30),
    `z${"\u0301".repeat(90)}`,
  ]
  let seed = 1
  const next = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below
  for (let round = 0; round < 300; round++) {
    const text = Array.from({ length: next(60) }, () => parts[next(parts.length)]).join("")
    const width = next(90)
    let head = ""
    for (const grapheme of graphemesOf(text)) {
      if (widthOf(head + grapheme) > width) break
      head += grapheme
    }
    expect(fit(text, width)).toEqual({ head, rest: text.slice(head.length) })
  }
})

test.each([
  ["one word", "x".repeat(20_000)],
  ["one word of other letters", "é漢".repeat(10_000)],
  ["one character", `a${"\u0301".repeat(20_000)}`],
])("to break %s into lines each character is looked at a few times, not once for each line", (_, text) => {
  let looked = 0
  const { test: matches } = RegExp.prototype
  vi.spyOn(RegExp.prototype, "test").mockImplementation(function (this: RegExp, given) {
    looked += given.length
    return Reflect.apply(matches, this, [given])
  })
  try {
    for (const lines of [wrap([{ text }], 80), chop([{ text }], 80)])
      expect(
        lines
          .flat()
          .map((each) => each.text)
          .join(""),
      ).toBe(text)
  } finally {
    vi.restoreAllMocks()
  }
  expect(looked).toBeLessThan(40 * text.length)
})

const rows = [
  ["Enter", "sends what stands there to whoever is meant"],
  ["Shift+Tab", "goes\x1b round"],
] as const

test("text that does not fit continues in its column", () => {
  expect(columnLines(rows, 44).map(lineText)).toEqual([
    "Enter      sends what stands there to",
    "           whoever is meant",
    "Shift+Tab  goes⟨U+001B⟩ round",
  ])
})

test("on a narrow screen the second column goes below the first", () => {
  expect(columnLines(rows, 30).map(lineText)).toEqual([
    "Enter",
    "  sends what stands there to",
    "  whoever is meant",
    "Shift+Tab",
    "  goes⟨U+001B⟩ round",
  ])
})
