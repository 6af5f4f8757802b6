import { expect, test } from "vitest"
import { FREE, type ModelEntry, sourcedFrom } from "../providers/model-catalogue.ts"
import { withReported } from "./merge-facts.ts"

const entry = (more: Partial<ModelEntry> = {}): ModelEntry => ({
  ...{ name: "p/m", provider: "p", id: "m", aliases: [], features: ["tools"], contextTokens: 32_768, price: null },
  ...{ sources: sourcedFrom("assumed"), ...more },
})

const operators = entry({
  features: ["tools", "reasoning"],
  price: { input: 1, output: 4 },
  sources: sourcedFrom("operator", "operator"),
})

test("an endpoint's facts take precedence one by one; the others keep their sources", () => {
  const told = withReported(entry(), { id: "m", contextTokens: 8192, maxContextTokens: 131_072, can: { images: true } })
  expect(told).toEqual({
    ...entry({ contextTokens: 8192, maxContextTokens: 131_072, features: ["tools", "images"] }),
    sources: { ...sourcedFrom("assumed"), contextTokens: "endpoint", images: "endpoint" },
  })
})

test("an endpoint that reports no tools is believed", () => {
  const { features, sources } = withReported(operators, { id: "m", can: { tools: false } })
  expect(features).toEqual(["reasoning"])
  expect(sources).toMatchObject({ tools: "endpoint", reasoning: "operator" })
})

test.each([
  [
    "what it is loaded with",
    entry(),
    { contextTokens: 4096, maxContextTokens: 131_072 },
    { contextTokens: 4096, from: "endpoint" },
  ],
  [
    "what is assumed, while it is not loaded",
    entry(),
    { maxContextTokens: 131_072 },
    { contextTokens: 32_768, from: "assumed" },
  ],
  ["never more than it was made for", entry(), { maxContextTokens: 8192 }, { contextTokens: 8192, from: "endpoint" }],
  [
    "the endpoint's, where the operator says more",
    operators,
    { contextTokens: 8192 },
    { contextTokens: 8192, from: "endpoint" },
  ],
  [
    "the operator's, where it is less",
    operators,
    { contextTokens: 200_000 },
    { contextTokens: 32_768, from: "operator" },
  ],
  ["the operator's, where nobody else knows", operators, {}, { contextTokens: 32_768, from: "operator" }],
  [
    "over the catalogue's",
    entry({ sources: sourcedFrom("catalogue") }),
    { contextTokens: 40_000 },
    { contextTokens: 40_000, from: "endpoint" },
  ],
] as const)("its window is %s", (_, known, told, { contextTokens: tokens, from }) => {
  const { contextTokens, sources } = withReported(known, { id: "m", can: {}, ...told })
  expect([contextTokens, sources.contextTokens]).toEqual([tokens, from])
})

test("the operator's price takes precedence over the endpoint's; others do not", () => {
  const price = { input: 0, output: 0 }
  const told = { id: "m", can: {}, price }
  expect(withReported(operators, told)).toMatchObject({ price: operators.price, sources: { price: "operator" } })
  expect(withReported(entry(), told)).toMatchObject({ price, sources: { price: "endpoint" } })
  const free = entry({ price: FREE, sources: sourcedFrom("assumed", "assumed") })
  expect(withReported(free, { id: "m", can: {} })).toMatchObject({ price: FREE, sources: { price: "assumed" } })
})
