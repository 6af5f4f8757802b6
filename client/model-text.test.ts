import { expect, test } from "vitest"
import type { ListedModel } from "../core/protocol/answers.ts"
import type { FactSources } from "../core/protocol/models/providers.ts"
import { describeEndpoints, modelFacts, formatPrice, describeFactSources, formatTokens } from "./model-text.ts"

test.each([
  [4096, "4k"],
  [32_768, "32k"],
  [131_072, "128k"],
  [128_000, "128k"],
  [272_000, "272k"],
  [1_000_000, "1M"],
  [1_048_576, "1M"],
  [1_500_000, "1.5M"],
])("%i tokens are %s", (tokens, words) => expect(formatTokens(tokens)).toBe(words))

test.each([
  [undefined, "price unknown"],
  [{ input: 0, output: 0 }, "free"],
  [{ input: 3, output: 15 }, "$3 in, $15 out per million"],
  [{ input: 0, output: 0.075 }, "$0 in, $0.075 out per million"],
])("a price of %j is %s", (price, words) => expect(formatPrice(price)).toBe(words))

const sources: FactSources = {
  ...{ contextTokens: "assumed", price: "operator" },
  ...{ tools: "endpoint", images: "endpoint", files: "assumed", reasoning: "catalogue" },
}
const model: ListedModel = {
  ...{ name: "m", provider: "p", aliases: [], features: [], contextTokens: 32_768, available: true, need: null },
  ...{ can: { tools: false, images: true, files: false, reasoning: true }, maxContextTokens: 131_072, sources },
}

test("a model is described by window, price and abilities; a missing ability to call tools comes first", () => {
  expect(modelFacts(model)).toEqual(["32k of 128k tokens (assumed)", "price unknown", "no tools, images, reasoning"])
  // An older server sends only the window.
  const { can: _, sources: __, maxContextTokens: ___, ...old } = model
  expect(modelFacts(old)).toEqual(["32k tokens"])
})

test("each fact has its source", () => {
  expect(describeFactSources(sources)).toBe(
    "Reported by the endpoint: tools, images. From the catalogue: reasoning. From the operator: price. Assumed: window, files.",
  )
})

test("the text about endpoints has pending, failed and omitted ones", () => {
  const endpoint = { models: 1, leftOut: 0, answeredAt: null, problem: null }
  const words = describeEndpoints(
    [
      { ...endpoint, provider: "ollama", state: "asking" },
      { ...endpoint, provider: "vllm", state: "failed", problem: "it could not be reached" },
      { ...endpoint, provider: "lmstudio", state: "failed", problem: "it refused the key", answeredAt: "2026-01-01" },
      { ...endpoint, provider: "openrouter", state: "answered", leftOut: 2000 },
      { ...endpoint, provider: "groq", state: "answered" },
    ],
    (iso) => `<${iso}>`,
  )
  expect(words).toEqual([
    "Loading the models of ollama…",
    "The models of vllm could not be loaded: it could not be reached.",
    "The models of lmstudio could not be loaded: it refused the key. Showing the list from <2026-01-01>.",
    "openrouter has 2,000 more models that cannot be listed.",
  ])
})
