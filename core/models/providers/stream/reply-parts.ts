import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
  SharedV4Warning,
} from "@ai-sdk/provider"
import type { ReplyPart, ThinkingPart } from "../../../engine/model.ts"
import type { ReplyFinish, Usage } from "../../../protocol/conversation/message.ts"
import { jsonLimits, tryReadJson } from "../../../shared/text/read-json.ts"
import { brokenReply, type ErrorSource, toProviderError } from "../errors/errors.ts"
import type { CallMetadata } from "../request/to-prompt.ts"

/** The maximum buffered reasoning and arguments: a longer reply ends as truncated. */
export const MAX_BUFFERED = 4_000_000

/** Converts the parts of an adapter's stream, each into one or none. Throws if the reply is incomplete. */
export class ReplyParts {
  readonly #model: string
  readonly #source: ErrorSource
  readonly #reasoning = new Map<string, Reasoning>()
  readonly #isMarkedDone: () => boolean
  /** The adapter's warnings about the request. */
  warnings: readonly SharedV4Warning[] = []
  #calls = 0
  #buffered = 0
  #hasWords = false
  #hasIncompleteCall = false

  /** `isMarkedDone` returns whether the stream had an end mark. */
  constructor(model: string, source: ErrorSource, isMarkedDone: () => boolean = () => false) {
    this.#model = model
    this.#source = source
    this.#isMarkedDone = isMarkedDone
  }

  translate(part: LanguageModelV4StreamPart): ReplyPart | ThinkingPart | undefined {
    if (part.type === "reasoning-delta" || part.type === "tool-input-delta") this.#buffered += part.delta.length
    if (this.#buffered > MAX_BUFFERED) return { type: "finish", finish: "limit", usage: UNCOUNTED }
    switch (part.type) {
      case "stream-start":
        this.warnings = part.warnings
        return undefined
      case "text-delta":
        this.#hasWords ||= part.delta.trim() !== ""
        return part.delta ? { type: "text", text: part.delta } : undefined
      case "reasoning-start":
      case "reasoning-delta":
        this.#addReasoning(part)
        return { type: "thinking", text: part.type === "reasoning-delta" ? part.delta : "" }
      case "reasoning-end":
        return this.#endReasoning(this.#addReasoning(part), part.id)
      case "tool-call":
        return part.providerExecuted ? undefined : this.#toCall(part)
      case "finish":
        return { type: "finish", finish: this.#toFinish(part.finishReason), usage: toUsage(part.usage) }
      case "error":
        // If there is an answer nevertheless, the `finish` part reports it.
        if (isMissingReason(part.error) && this.#finishWithoutReason()) return undefined
        throw toProviderError(part.error, this.#source)
      // Files, sources, tools of the provider, and future kinds of parts.
      default:
        return undefined
    }
  }

  #addReasoning(part: { id: string; delta?: string; providerMetadata?: SharedV4ProviderMetadata }): Reasoning {
    const thought = this.#reasoning.get(part.id) ?? { text: "", metadata: {} }
    this.#reasoning.set(part.id, thought)
    thought.text += part.delta ?? ""
    // A signature may come with the last delta and an id with the first; both are needed.
    for (const [provider, fields] of Object.entries(part.providerMetadata ?? {})) {
      thought.metadata[provider] = { ...thought.metadata[provider], ...fields }
    }
    return thought
  }

  #endReasoning({ text, metadata }: Reasoning, id: string): ReplyPart | undefined {
    this.#reasoning.delete(id)
    if (Object.keys(metadata).length > 0) return { type: "reasoning", text, metadata }
    return text ? { type: "reasoning", text } : undefined
  }

  #toCall({ toolName, input, providerMetadata }: LanguageModelV4ToolCall): ReplyPart {
    this.#calls++
    this.#hasIncompleteCall ||= !isComplete(input)
    if (!providerMetadata) return { type: "call", name: toolName, input }
    const metadata: CallMetadata = { model: this.#model, providerOptions: providerMetadata }
    return { type: "call", name: toolName, input, metadata }
  }

  #toFinish({ unified, raw }: LanguageModelV4FinishReason): ReplyFinish {
    switch (unified) {
      case "stop":
        return "stop"
      case "length":
        return "limit"
      case "content-filter":
        return "refused"
      case "tool-calls":
        if (this.#calls === 0) throw this.#broken("the reply announced tool calls and held none")
        return "calls"
      case "other":
        if (raw !== undefined && !FAILURES.has(raw)) return this.#calls > 0 ? "calls" : "stop"
        if (raw !== undefined) throw this.#broken(`the reply was interrupted: ${raw}`)
        return this.#withoutReason()
      case "error":
        return this.#withoutReason(raw)
      case "interrupted":
        throw this.#broken(UNFINISHED)
    }
  }

  /** Some gateways end properly without a finish reason. A truncated stream lacks the end mark, and is no answer. */
  #withoutReason(raw?: string): ReplyFinish {
    const ending = raw === undefined ? this.#finishWithoutReason() : undefined
    if (!ending) throw this.#broken(UNFINISHED)
    return ending
  }

  #finishWithoutReason(): ReplyFinish | undefined {
    if (!this.#isMarkedDone()) return undefined
    if (this.#calls > 0) return this.#hasIncompleteCall ? undefined : "calls"
    return this.#hasWords ? "unknown" : undefined
  }

  #broken(problem: string): Error {
    return brokenReply(problem, this.#source)
  }
}

/** The error of the chat adapter if no choice had a finish reason. */
const isMissingReason = (error: unknown): boolean =>
  error instanceof Error &&
  error.name === "AI_InvalidResponseDataError" &&
  /without a finish reason/.test(error.message)

/** Arguments that were not truncated. */
function isComplete(input: string): boolean {
  const value = tryReadJson(input, { ...jsonLimits.message, characters: MAX_BUFFERED })
  return typeof value === "object" && value !== null
}

interface Reasoning {
  text: string
  metadata: SharedV4ProviderMetadata
}

export const UNFINISHED = "the reply ended before it was finished"

/** Finish reasons that are failures: of OpenRouter, DeepSeek and gateways. */
const FAILURES: ReadonlySet<string> = new Set([
  "error",
  "insufficient_system_resource",
  "network_error",
  "abort",
  "aborted",
])

const UNCOUNTED: Usage = { inputTokens: null, outputTokens: null }

function toUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage {
  return {
    inputTokens: toCount(inputTokens.total),
    outputTokens: toCount(outputTokens.total),
    cachedTokens: toCount(inputTokens.cacheRead),
    ...(inputTokens.cacheWrite ? { cacheWriteTokens: toCount(inputTokens.cacheWrite) } : {}),
    reasoningTokens: toCount(outputTokens.reasoning),
  }
}

const toCount = (count: number | undefined): number | null => (Number.isFinite(count) ? (count as number) : null)
