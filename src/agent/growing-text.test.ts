import { expect, test } from "vitest"
import { GrowingText } from "./growing-text.ts"

test("a text is what its pieces are together, whenever it is asked for", () => {
  const text = new GrowingText()
  let whole = ""
  expect([String(text), text.length]).toEqual(["", 0])
  for (let i = 0; i < 3000; i++) {
    const piece = i % 7 === 0 ? "" : `piece ${i} 🦊`
    text.add(piece)
    whole += piece
    if (i % 501 === 0) expect(String(text) === whole).toBe(true)
    expect(text.length).toBe(whole.length)
  }
  expect(String(text) === whole).toBe(true)
  expect(String(text) === whole).toBe(true)
})
