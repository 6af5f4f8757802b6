/** Known facts about a model, in short phrases. */
import type { FactSource, FactSources, ListedModel } from "../../../core/protocol/index.ts"
import { list, roundDollars, windowSize } from "../strings/format.ts"
import { type Key, t } from "../strings/strings.ts"

/** The context window, the price and the abilities of a model. */
export function modelFacts({ contextTokens, maxContextTokens, price, can, sources }: ListedModel): string[] {
  const tokens = windowSize(contextTokens)
  const isAssumed = sources?.contextTokens === "assumed"
  const window = maxContextTokens
    ? t(isAssumed ? "conversation.windowAssumedOf" : "conversation.windowOf", {
        tokens,
        max: windowSize(maxContextTokens),
      })
    : t(isAssumed ? "conversation.windowAssumed" : "conversation.window", { tokens })
  if (!can) return [window]
  const { tools, images, files, reasoning } = can
  const able = [
    t(tools ? "conversation.canTools" : "conversation.cannotTools"),
    ...(images ? [t("conversation.canImages")] : []),
    ...(files ? [t("conversation.canFiles")] : []),
    ...(reasoning ? [t("conversation.canReasoning")] : []),
  ]
  return [window, describePrice(price), able.join(", ")]
}

/** An unknown price is not shown as free. */
function describePrice(price: ListedModel["price"]): string {
  if (!price) return t("conversation.priceUnknown")
  if (price.input === 0 && price.output === 0) return t("common.free")
  return t("conversation.price", { input: roundDollars(price.input), output: roundDollars(price.output) })
}

const FACTS: Readonly<Record<keyof FactSources, Key>> = {
  contextTokens: "conversation.factWindow",
  price: "conversation.factPrice",
  tools: "conversation.canTools",
  images: "conversation.canImages",
  files: "conversation.canFiles",
  reasoning: "conversation.canReasoning",
}

const SENTENCES = {
  endpoint: "conversation.factsFromEndpoint",
  catalogue: "conversation.factsFromCatalogue",
  operator: "conversation.factsFromOperator",
  assumed: "conversation.factsAssumed",
} as const satisfies Readonly<Record<FactSource, Key>>

/** The sources of the facts, such as `Reported by the endpoint: context window, tools. Assumed: price.` */
export function describeFactSources(sources: FactSources): string {
  const facts = Object.entries(sources) as [keyof FactSources, FactSource | undefined][]
  return Object.entries(SENTENCES)
    .flatMap(([source, sentence]) => {
      const own = facts.flatMap(([fact, from]) => (from === source ? [t(FACTS[fact])] : []))
      return own.length > 0 ? [t(sentence, { facts: list(own) })] : []
    })
    .join(" ")
}
