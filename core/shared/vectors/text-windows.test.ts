import { expect, test } from "vitest"
import { countWork } from "../../../test/support/worked.ts"
import { embedPooled } from "./text-windows.ts"
import { textWindows } from "./text-windows.ts"

const limits = { tokens: 50, most: 8 }

test("a short text is one window, and a text without words has none", () => {
  expect(textWindows("Ship it on Friday.", limits)).toEqual(["Ship it on Friday."])
  expect(textWindows(" \n\t\0 ", limits)).toEqual([])
})

test("a long text is split into parts of similar length", () => {
  const words = Array.from({ length: 120 }, (_, i) => `word${String.fromCharCode(97 + (i % 26))}`)
  const windows = textWindows(words.join(" "), limits)
  expect(windows.join(" ").split(" ")).toEqual(words)
  const lengths = windows.map((window) => window.split(" ").length)
  expect(Math.max(...lengths) - Math.min(...lengths)).toBeLessThanOrEqual(2)
  expect(windows.length).toBe(3)
})

test("the windows of a very long text are spread from its start to its end", () => {
  const text = Array.from({ length: 10_000 }, (_, i) => `w${i}`).join(" ")
  const windows = textWindows(text, limits)
  expect(windows).toHaveLength(8)
  expect(windows[0]).toMatch(/^w0 /)
  expect(windows.at(-1)).toMatch(/ w9999$/)
})

test("a megabyte without spaces is split, too, and never inside a character", () => {
  for (const text of ["漢".repeat(350_000), "😀".repeat(250_000), "x".repeat(1_000_000)]) {
    const windows = textWindows(text, limits)
    expect(windows).toHaveLength(8)
    expect(windows.every((window) => window.isWellFormed() && [...window].length <= 255)).toBe(true)
  }
})

test("NUL and unpaired surrogates are removed", () => {
  expect(textWindows("a\0b \ud800c", limits)).toEqual(["a b �c"])
})

test("the vectors of a text's windows become one normalized vector; an empty text becomes zeros", async () => {
  const seen: string[] = []
  const [both, none] = await embedPooled(["a ".repeat(80), ""], { limits, dimensions: 2 }, async (windows) => {
    seen.push(...windows)
    return windows.map((_, i) => (i % 2 === 0 ? [1, 0] : [0, 1]))
  })
  expect(seen).toHaveLength(2)
  expect([...both!].map((number) => number.toFixed(4))).toEqual(["0.7071", "0.7071"])
  expect([...none!]).toEqual([0, 0])
})

test("a text far longer than all windows is read in parts that are spread over it, and takes no longer", () => {
  const worked = countWork()
  for (const sign of ["a ", "深", "!?", "🐟", "a\u0301"]) {
    const text = `first ${sign.repeat(1_000_000)} last`
    const windows = textWindows(text, { tokens: 200, most: 6 })
    expect(windows.length).toBeLessThanOrEqual(6)
    expect(windows[0]).toContain("first")
    expect(windows.at(-1)).toContain("last")
  }
  expect(worked()).toBeLessThan(1500)
})
