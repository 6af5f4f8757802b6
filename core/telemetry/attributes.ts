import type { Live } from "../engine/ports.ts"
import type { Finish, Part, Usage } from "../protocol/conversation/message.ts"
import type { EventOf } from "../protocol/events.ts"
import type { ConversationId } from "../protocol/ids.ts"
import type { Clock } from "../shared/time/clock.ts"
import type { SpanAttributes } from "./span.ts"

/** The names that OpenTelemetry's conventions for generative AI use where ours differ. */
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

/** Undefined until usage was counted: a model's name does not identify its provider. */
export function providerName(usage: Usage | undefined): string | undefined {
  const provider = usage?.provider
  return provider === undefined ? undefined : (WELL_KNOWN.get(provider) ?? provider)
}

/** Usage by the names of the conventions for generative AI, without what the provider did not count. */
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

/**
 * The attributes of a model call. The journal has the requested model's name, not the one that the provider resolved it
 * to.
 */
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

/** Longer texts are cut, so that a batch fits into memory. */
const MAX_CHARACTERS = 20_000

const cut = (text: string): string => (text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text)

/** A message in the format of the conventions for generative AI. Exported only if the operator asked for content. */
export function messageContent({ role, parts, finish }: EventOf<"message">): SpanAttributes {
  const exported = parts.flatMap(toPart)
  const message = { role, parts: exported, ...(finish ? { finish_reason: finish } : {}) }
  return { [role === "user" ? "gen_ai.input.messages" : "gen_ai.output.messages"]: JSON.stringify([message]) }
}

function toPart(part: Part): object[] {
  switch (part.type) {
    case "text":
      return [{ type: "text", content: cut(part.text) }]
    case "reasoning":
      return [{ type: "reasoning", content: cut(part.text) }]
    case "call":
      return [{ type: "tool_call", id: part.id, name: part.name, arguments: cut(JSON.stringify(part.input)) }]
  }
}

export function callContent(input: object | undefined, text: string): SpanAttributes {
  return {
    "gen_ai.tool.call.arguments": input === undefined ? undefined : cut(JSON.stringify(input)),
    "gen_ai.tool.call.result": cut(text),
  }
}

/** Limits of the cache below. */
const MAX_CONVERSATIONS = 5000
const MAX_REPLIES = 200

/**
 * When the first token of each reply arrived. The journal does not record it, so only the process that saw it knows.
 */
export class FirstTokenTimes {
  readonly #clock: Clock
  readonly #times = new Map<ConversationId, number[]>()
  /** The position of the open reply in each conversation. */
  readonly #open = new Map<ConversationId, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  onLive(id: ConversationId, live: Live): void {
    if (live.type !== "text_delta" && live.type !== "reasoning_delta") return
    if (this.#open.get(id) === live.position) return
    this.#open.set(id, live.position)
    const times = this.#times.get(id) ?? []
    if (times.length === 0) this.#times.set(id, times)
    times.push(this.#clock.now())
    if (times.length > MAX_REPLIES) times.shift()
    if (this.#times.size > MAX_CONVERSATIONS) this.forget(this.#times.keys().next().value as ConversationId)
  }

  between(id: ConversationId, from: number, to: number): number | undefined {
    return this.#times.get(id)?.find((at) => at >= from && at <= to)
  }

  forget(id: ConversationId): void {
    this.#times.delete(id)
    this.#open.delete(id)
  }
}
