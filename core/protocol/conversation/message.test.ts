import { expect, test } from "vitest"
import { reasoningOf } from "./message.ts"

const thought = (text: string, ms?: number) => ({
  type: "reasoning" as const,
  text,
  ...(ms === undefined ? {} : { ms }),
})
const said = { type: "text" as const, text: "So." }

test("thinking consists of its blocks, with the observed time", () => {
  expect(reasoningOf([thought("a", 1000), said, thought("b", 500)])).toEqual({ text: "a\n\nb", ms: 1500 })
  expect(reasoningOf([thought("a")])).toEqual({ text: "a" })
})

test("without text there is no thinking: encrypted thinking is for its provider only", () => {
  expect(reasoningOf([said])).toBeUndefined()
  const sealed = { ...thought("", 3000), metadata: { openai: { reasoningEncryptedContent: "gAAAA" } } }
  expect(reasoningOf([sealed, said])).toBeUndefined()
  expect(JSON.stringify(reasoningOf([sealed, thought("Aloud.")]))).toBe('{"text":"Aloud.","ms":3000}')
})
