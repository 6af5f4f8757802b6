import type { Finish, Usage } from "../protocol/conversation/message.ts"
import type { SpanAttributes } from "./span.ts"

/** Our names of providers where the conventions for generative AI have others. */
const WELL_KNOWN = new Map([
  ["google", "gcp.gemini"],
  ["vertex", "gcp.vertex_ai"],
  ["azure", "azure.ai.openai"],
  ["bedrock", "aws.bedrock"],
  ["mistral", "mistral_ai"],
  ["xai", "x_ai"],
])

const FINISHES: Readonly<Partial<Record<Finish, string>>> = {
  calls: "tool_call",
  limit: "length",
  refused: "content_filter",
}

/** Known where the call was counted: the name of a model does not tell whose it is. */
export function providerName(usage: Usage | undefined): string | undefined {
  const provider = usage?.provider
  return provider === undefined ? undefined : (WELL_KNOWN.get(provider) ?? provider)
}

/** What a model has used, by the names of the conventions for generative AI; what its provider did not count is left out. */
export function usageAttributes(usage: Usage | undefined): SpanAttributes {
  return {
    "gen_ai.usage.input_tokens": usage?.inputTokens ?? undefined,
    "gen_ai.usage.output_tokens": usage?.outputTokens ?? undefined,
    "gen_ai.usage.cache_read.input_tokens": usage?.cachedTokens ?? undefined,
    "gen_ai.usage.cache_creation.input_tokens": usage?.cacheWriteTokens ?? undefined,
    "gen_ai.usage.reasoning.output_tokens": usage?.reasoningTokens ?? undefined,
    "pawl.usage.cost_usd": usage?.cost ?? undefined,
  }
}

/** A call of a model. The journal names a model as it was asked for; what its provider made of that name it does not tell. */
export function modelAttributes(model: string | undefined, usage?: Usage, finish?: Finish): SpanAttributes {
  return {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": providerName(usage),
    "gen_ai.request.model": model,
    "gen_ai.request.stream": true,
    "gen_ai.response.model": usage === undefined ? undefined : model,
    "gen_ai.response.finish_reasons": finish === undefined ? undefined : [FINISHES[finish] ?? finish],
    ...usageAttributes(usage),
  }
}
