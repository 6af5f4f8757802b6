import type { ListedModel, UnavailableChoice } from "../core/protocol/answers.ts"
import type { FactSource, FactSources, ModelEndpoint } from "../core/protocol/models/providers.ts"
import { count } from "./format.ts"

/** Formats a number of tokens, such as `128k` or `1M`. Powers of two count as round. */
export function formatTokens(tokens: number): string {
  const thousand = tokens % 1000 !== 0 && tokens % 1024 === 0 ? 1024 : 1000
  const thousands = tokens / thousand
  return thousands < 1000 ? `${Math.round(thousands)}k` : `${Math.round(thousands / (thousand / 10)) / 10}M`
}

/** Formats a price, such as `$3 in, $15 out per million`. An unknown price is not shown as free. */
export function formatPrice(price: ListedModel["price"]): string {
  if (!price) return "price unknown"
  if (price.input === 0 && price.output === 0) return "free"
  return `${perMillion(price.input)} in, ${perMillion(price.output)} out per million`
}

const perMillion = (dollars: number): string => `$${Number(dollars.toPrecision(3))}`

/** Describes a model in short phrases: its context window, its price and its abilities. */
export function modelFacts({ contextTokens, maxContextTokens, price, can, sources }: ListedModel): string[] {
  const most = maxContextTokens ? ` of ${formatTokens(maxContextTokens)}` : ""
  const window = `${formatTokens(contextTokens)}${most} tokens${sources?.contextTokens === "assumed" ? " (assumed)" : ""}`
  if (!can) return [window]
  const { tools, ...others } = can
  const able = Object.entries(others).flatMap(([name, is]) => (is ? [name] : []))
  return [window, formatPrice(price), [tools ? "tools" : "no tools", ...able].join(", ")]
}

const SAYS: Readonly<Record<FactSource, string>> = {
  endpoint: "Reported by the endpoint",
  catalogue: "From the catalogue",
  operator: "From the operator",
  assumed: "Assumed",
}

/** Describes where the facts about a model come from, such as `Reported by the endpoint: window, tools. Assumed: price.` */
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
    if (state === "asking") return [`Loading the models of ${provider}…`]
    if (state === "failed") {
      const stands = answeredAt ? ` Showing the list from ${at(answeredAt)}.` : ""
      return [`The models of ${provider} could not be loaded: ${problem ?? "no reason given"}.${stands}`]
    }
    return leftOut > 0 ? [`${provider} has ${count(leftOut, "more model")} that cannot be listed.`] : []
  })
}

/** Says that the model that the user chose last is unavailable, why, and which model is used instead. */
export function describeUnavailable({ name, need }: UnavailableChoice, usual: string | null): string {
  // The setting to change comes first.
  const [reason = need] = need.split(",")
  const instead = usual === null ? "Choose another model." : `${usual} answers instead.`
  return `Your last model, ${name}, is not available (${reason}). ${instead}`
}
