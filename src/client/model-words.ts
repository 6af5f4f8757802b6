import type { ListedModel } from "../protocol/answers.ts"
import type { FactSource, FactSources, ModelEndpoint } from "../protocol/models/model-facts.ts"
import { count } from "./words.ts"

/** `128k`, `1M`: as people write tokens, where powers of two count as round. */
export function tokenWords(tokens: number): string {
  const thousand = tokens % 1000 !== 0 && tokens % 1024 === 0 ? 1024 : 1000
  const thousands = tokens / thousand
  return thousands < 1000 ? `${Math.round(thousands)}k` : `${Math.round(thousands / (thousand / 10)) / 10}M`
}

/** `$3 in, $15 out a million`; a price that nobody knows is not free. */
export function priceWords(price: ListedModel["price"]): string {
  if (!price) return "price not known"
  if (price.input === 0 && price.output === 0) return "free"
  return `${perMillion(price.input)} in, ${perMillion(price.output)} out a million`
}

const perMillion = (dollars: number): string => `$${Number(dollars.toPrecision(3))}`

/** What is known of a model, each fact in a few words: its window, its price, what it can do. */
export function modelFacts({ contextTokens, maxContextTokens, price, can, sources }: ListedModel): string[] {
  const window = `${tokenWords(contextTokens)} tokens${sources?.contextTokens === "assumed" ? " assumed" : ""}`
  const made = maxContextTokens ? ` of ${tokenWords(maxContextTokens)}` : ""
  if (!can) return [window + made]
  const { tools, ...others } = can
  const able = Object.entries(others).flatMap(([name, is]) => (is ? [name] : []))
  return [window + made, priceWords(price), [tools ? "tools" : "no tools", ...able].join(", ")]
}

const SAYS: Readonly<Record<FactSource, string>> = {
  endpoint: "Its endpoint says",
  catalogue: "Pawl's catalogue says",
  operator: "Whoever runs the server says",
  assumed: "Assumed",
}

/** Who says what of a model: `Its endpoint says: window, tools. Assumed: price.` */
export function sourceWords({ contextTokens, ...others }: FactSources): string {
  const facts = Object.entries({ window: contextTokens, ...others })
  return Object.entries(SAYS)
    .flatMap(([source, says]) => {
      const own = facts.flatMap(([fact, from]) => (from === source ? [fact] : []))
      return own.length > 0 ? [`${says}: ${own.join(", ")}.`] : []
    })
    .join(" ")
}

/** How it went with the endpoints that list their models, where there is something to say; `at` tells a time of day. */
export function endpointWords(endpoints: readonly ModelEndpoint[], at: (iso: string) => string): string[] {
  return endpoints.flatMap(({ provider, state, leftOut, answeredAt, problem }) => {
    if (state === "asking") return [`Asking ${provider} which models it has…`]
    if (state === "failed") {
      const stands = answeredAt ? ` What it said at ${at(answeredAt)} is shown.` : ""
      return [`${provider} did not tell its models: ${problem ?? "it failed"}.${stands}`]
    }
    return leftOut > 0 ? [`${provider} tells of ${count(leftOut, "more model")} that cannot be listed.`] : []
  })
}
