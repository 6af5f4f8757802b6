import { expect, test } from "vitest"
import { GrowingText } from "./growing-text.ts"

test("a text is the concatenation of its pieces, whenever it is read", () => {
  const text = new GrowingText()
  let whole = ""
  expect([String(text), text.length]).toEqual(["", 0])
  for (let i = 0; i < 3000; i++) {
    const piece = i % 7 === 0 ? "" : `piece ${i} 🦊`
    text.add(piece)
    whole += piece
    // Often at first, then seldom: pieces are joined when the text is read, or when there are many.
    if (i < 600 ? i % 201 === 0 : i % 1499 === 0) expect(String(text) === whole).toBe(true)
    expect(text.length).toBe(whole.length)
  }
  expect(String(text) === whole).toBe(true)
  text.add("x".repeat(20_000))
  expect([String(text) === `${whole}${"x".repeat(20_000)}`, text.length]).toEqual([true, whole.length + 20_000])
  expect(String(text).length).toBe(text.length)
})
