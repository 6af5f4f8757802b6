import type { ListedModel, UnavailableChoice } from "../core/protocol/answers.ts"
import type { FactSource, FactSources, ModelEndpoint } from "../core/protocol/models/providers.ts"
import { count } from "./words.ts"

/** Formats a number of tokens, such as `128k` or `1M`. Powers of two count as round. */
export function formatTokens(tokens: number): string {
  const thousand = tokens % 1000 !== 0 && tokens % 1024 === 0 ? 1024 : 1000
  const thousands = tokens / thousand
  return thousands < 1000 ? `${Math.round(thousands)}k` : `${Math.round(thousands / (thousand / 10)) / 10}M`
}

/** Formats a price, such as `$3 in, $15 out a million`. An unknown price is not shown as free. */
export function formatPrice(price: ListedModel["price"]): string {
  if (!price) return "price not known"
  if (price.input === 0 && price.output === 0) return "free"
  return `${perMillion(price.input)} in, ${perMillion(price.output)} out a million`
}

const perMillion = (dollars: number): string => `$${Number(dollars.toPrecision(3))}`

/** Describes a model in short phrases: its context window, its price and its abilities. */
export function modelFacts({ contextTokens, maxContextTokens, price, can, sources }: ListedModel): string[] {
  const window = `${formatTokens(contextTokens)} tokens${sources?.contextTokens === "assumed" ? " assumed" : ""}`
  const made = maxContextTokens ? ` of ${formatTokens(maxContextTokens)}` : ""
  if (!can) return [window + made]
  const { tools, ...others } = can
  const able = Object.entries(others).flatMap(([name, is]) => (is ? [name] : []))
  return [window + made, formatPrice(price), [tools ? "tools" : "no tools", ...able].join(", ")]
}

const SAYS: Readonly<Record<FactSource, string>> = {
  endpoint: "Its endpoint says",
  catalogue: "Pawl's catalogue says",
  operator: "The operator says",
  assumed: "Assumed",
}

/** Describes where the facts about a model come from, such as `Its endpoint says: window, tools. Assumed: price.` */
export function describeFactSources({ contextTokens, ...others }: FactSources): string {
  const facts = Object.entries({ window: contextTokens, ...others })
  return Object.entries(SAYS)
    .flatMap(([source, says]) => {
      const own = facts.flatMap(([fact, from]) => (from === source ? [fact] : []))
      return own.length > 0 ? [`${says}: ${own.join(", ")}.`] : []
    })
    .join(" ")
}

/** Describes problems with endpoints that list their models; `at` formats a time of day. */
export function describeEndpoints(endpoints: readonly ModelEndpoint[], at: (iso: string) => string): string[] {
  return endpoints.flatMap(({ provider, state, leftOut, answeredAt, problem }) => {
    if (state === "asking") return [`Asking ${provider} which models it has…`]
    if (state === "failed") {
      const stands = answeredAt ? ` What it said at ${at(answeredAt)} is shown.` : ""
      return [`${provider} did not tell its models: ${problem ?? "it failed"}.${stands}`]
    }
    return leftOut > 0 ? [`${provider} tells of ${count(leftOut, "more model")} that cannot be listed.`] : []
  })
}

/** Says that the model that the user chose last is unavailable, why, and which model is used instead. */
export function describeUnavailable({ name, need }: UnavailableChoice, usual: string | null): string {
  // What to set comes first in it.
  const [reason = need] = need.split(",")
  const instead = usual === null ? "Choose another model." : `${usual} answers instead.`
  return `The model that you chose last, ${name}, is not available (${reason}). ${instead}`
}
