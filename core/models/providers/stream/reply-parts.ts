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

/** Thinking and arguments are gathered until they are whole: a reply that holds more than this is ended as cut. */
export const MAX_GATHERED = 4_000_000

/** Turns the parts of one adapter stream into ours, each into one or none. Throws where the reply turns out broken. */
export class ReplyParts {
  readonly #model: string
  readonly #source: ErrorSource
  readonly #thoughts = new Map<string, Thought>()
  readonly #isMarkedDone: () => boolean
  /** What the adapter says of the request, before the first part. */
  warnings: readonly SharedV4Warning[] = []
  #calls = 0
  #gathered = 0
  #hasWords = false
  #hasTornCall = false

  /** `isMarkedDone` says whether the provider has marked the end of its stream, once all of it has come. */
  constructor(model: string, source: ErrorSource, isMarkedDone: () => boolean = () => false) {
    this.#model = model
    this.#source = source
    this.#isMarkedDone = isMarkedDone
  }

  translate(part: LanguageModelV4StreamPart): ReplyPart | ThinkingPart | undefined {
    if (part.type === "reasoning-delta" || part.type === "tool-input-delta") this.#gathered += part.delta.length
    if (this.#gathered > MAX_GATHERED) return { type: "finish", finish: "limit", usage: UNCOUNTED }
    switch (part.type) {
      case "stream-start":
        this.warnings = part.warnings
        return undefined
      case "text-delta":
        this.#hasWords ||= part.delta.trim() !== ""
        return part.delta ? { type: "text", text: part.delta } : undefined
      case "reasoning-start":
      case "reasoning-delta":
        this.#think(part)
        return { type: "thinking", text: part.type === "reasoning-delta" ? part.delta : "" }
      case "reasoning-end":
        return this.#endThought(this.#think(part), part.id)
      case "tool-call":
        return part.providerExecuted ? undefined : this.#toCall(part)
      case "finish":
        return { type: "finish", finish: this.#toFinish(part.finishReason), usage: toUsage(part.usage) }
      case "error":
        // Told by the finish that follows, where there is an answer all the same.
        if (isMissingReason(part.error) && this.#endedAnyhow()) return undefined
        throw toProviderError(part.error, this.#source)
      // Files, sources, tools the provider ran by itself, and whatever adapters will think of next.
      default:
        return undefined
    }
  }

  #think(part: { id: string; delta?: string; providerMetadata?: SharedV4ProviderMetadata }): Thought {
    const thought = this.#thoughts.get(part.id) ?? { text: "", metadata: {} }
    this.#thoughts.set(part.id, thought)
    thought.text += part.delta ?? ""
    // A signature may come with the last piece and an id with the first: both are wanted back.
    for (const [provider, fields] of Object.entries(part.providerMetadata ?? {})) {
      thought.metadata[provider] = { ...thought.metadata[provider], ...fields }
    }
    return thought
  }

  #endThought({ text, metadata }: Thought, id: string): ReplyPart | undefined {
    this.#thoughts.delete(id)
    if (Object.keys(metadata).length > 0) return { type: "reasoning", text, metadata }
    return text ? { type: "reasoning", text } : undefined
  }

  #toCall({ toolName, input, providerMetadata }: LanguageModelV4ToolCall): ReplyPart {
    this.#calls++
    this.#hasTornCall ||= !isWhole(input)
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

  /** Some gateways end in good order and never say why. A stream that was cut lacks the mark, and is no answer. */
  #withoutReason(raw?: string): ReplyFinish {
    const ending = raw === undefined ? this.#endedAnyhow() : undefined
    if (!ending) throw this.#broken(UNFINISHED)
    return ending
  }

  #endedAnyhow(): ReplyFinish | undefined {
    if (!this.#isMarkedDone()) return undefined
    if (this.#calls > 0) return this.#hasTornCall ? undefined : "calls"
    return this.#hasWords ? "unknown" : undefined
  }

  #broken(problem: string): Error {
    return brokenReply(problem, this.#source)
  }
}

/** What the adapter for chat completions says of a stream in which no choice had a reason to finish. */
const isMissingReason = (error: unknown): boolean =>
  error instanceof Error &&
  error.name === "AI_InvalidResponseDataError" &&
  /without a finish reason/.test(error.message)

/** Arguments that a cut cannot have shortened. */
function isWhole(input: string): boolean {
  const value = tryReadJson(input, { ...jsonLimits.message, characters: MAX_GATHERED })
  return typeof value === "object" && value !== null
}

interface Thought {
  text: string
  metadata: SharedV4ProviderMetadata
}

export const UNFINISHED = "the reply ended before it was finished"

/** Reasons to stop that are failures under another name: OpenRouter's, DeepSeek's, and those of gateways. */
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
