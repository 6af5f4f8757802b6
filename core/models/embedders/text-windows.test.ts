import { expect, test } from "vitest"
import { countWork } from "../../../test/support/worked.ts"
import { embedPooled } from "./pool-windows.ts"
import { textWindows } from "./text-windows.ts"

const limits = { tokens: 50, most: 8 }

test("a short text is one window, and one without a word is none", () => {
  expect(textWindows("Ship it on Friday.", limits)).toEqual(["Ship it on Friday."])
  expect(textWindows(" \n\t\0 ", limits)).toEqual([])
})

test("a long text comes whole, in parts about equally long", () => {
  const words = Array.from({ length: 120 }, (_, i) => `word${String.fromCharCode(97 + (i % 26))}`)
  const windows = textWindows(words.join(" "), limits)
  expect(windows.join(" ").split(" ")).toEqual(words)
  const lengths = windows.map((window) => window.split(" ").length)
  expect(Math.max(...lengths) - Math.min(...lengths)).toBeLessThanOrEqual(2)
  expect(windows.length).toBe(3)
})

test("of a very long one the windows are spread from its beginning to its end", () => {
  const text = Array.from({ length: 10_000 }, (_, i) => `w${i}`).join(" ")
  const windows = textWindows(text, limits)
  expect(windows).toHaveLength(8)
  expect(windows[0]).toMatch(/^w0 /)
  expect(windows.at(-1)).toMatch(/ w9999$/)
})

test("a megabyte without a space is cut too, and never inside a character", () => {
  for (const text of ["漢".repeat(350_000), "😀".repeat(250_000), "x".repeat(1_000_000)]) {
    const windows = textWindows(text, limits)
    expect(windows).toHaveLength(8)
    expect(windows.every((window) => window.isWellFormed() && [...window].length <= 255)).toBe(true)
  }
})

test("NUL and half a pair are taken out before an embedder sees them", () => {
  expect(textWindows("a\0b \ud800c", limits)).toEqual(["a b �c"])
})

test("the vectors of a text's windows become one of length 1; nothing becomes nought", async () => {
  const seen: string[] = []
  const [both, none] = await embedPooled(["a ".repeat(80), ""], { limits, dimensions: 2 }, async (windows) => {
    seen.push(...windows)
    return windows.map((_, i) => (i % 2 === 0 ? [1, 0] : [0, 1]))
  })
  expect(seen).toHaveLength(2)
  expect([...both!].map((number) => number.toFixed(4))).toEqual(["0.7071", "0.7071"])
  expect([...none!]).toEqual([0, 0])
})

test("a text far longer than all windows is looked at in parts that are spread over all of it, and costs no more", () => {
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
