import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  SharedV4Warning,
} from "@ai-sdk/provider"
import { own } from "../../../shared/text/json.ts"
import { MIN_THINKING_TOKENS, MIN_TEXT_TOKENS } from "./messages-body.ts"

/** How a Claude model reasons. */
export interface ClaudeThinking {
  /** It decides how much, which an effort controls. */
  readonly supportsAdaptiveThinking: boolean
  /** It still accepts a token budget. */
  readonly takesBudget: boolean
  readonly rejectsThinkingDisabled: boolean
  readonly maxOutputTokens: number
  /** Otherwise its maximum reply is a guess. */
  readonly isKnownModel: boolean
}

type Fields = Readonly<Record<string, unknown>>

/** A call for the adapter, with warnings about changes. */
interface ConvertedCall {
  readonly call: LanguageModelV4CallOptions
  readonly warnings?: readonly SharedV4Warning[]
}

/** The share of the maximum reply that each effort may use, for models with a token budget. */
const SHARES: Readonly<Record<string, number>> = {
  minimal: 0.02,
  low: 0.1,
  medium: 0.3,
  high: 0.6,
  xhigh: 0.9,
  max: 0.95,
}

/** The text budget if the reply has no limit. */
const DEFAULT_TEXT_TOKENS = 4096

/**
 * Limits a Claude model on Bedrock so that reasoning counts towards the maximum reply, as in `messages-body.ts`; before
 * the adapter creates the body, because bodies are signed.
 */
export function withThinkingInConverse(model: LanguageModelV4, thinking: ClaudeThinking): LanguageModelV4 {
  const ask = model.doStream.bind(model)
  return Object.assign(model, {
    async doStream(given: LanguageModelV4CallOptions) {
      const { call, warnings = [] } = toConverse(given, thinking)
      const result = await ask(call)
      return warnings.length > 0 ? { ...result, stream: result.stream.pipeThrough(warning(warnings)) } : result
    },
  })
}

function toConverse(call: LanguageModelV4CallOptions, thinking: ClaudeThinking): ConvertedCall {
  const { reasoning } = call
  const { supportsAdaptiveThinking: isAdaptive, takesBudget, rejectsThinkingDisabled } = thinking
  const requestedTokens = budgetIn(call)
  if (reasoning === "none") {
    // Other models reason only if asked.
    if (!isAdaptive) return { call }
    if (rejectsThinkingDisabled) return { call: { ...call, reasoning: "low" }, warnings: [CANNOT_STOP] }
    return { call: withFields(call, { additionalModelRequestFields: { thinking: { type: "disabled" } } }) }
  }
  if (requestedTokens === undefined && (reasoning === undefined || reasoning === "provider-default")) return { call }
  if (isAdaptive && !(takesBudget && requestedTokens !== undefined)) {
    // Some return reasoning without text unless asked for a summary.
    const shown = withFields(call, { reasoningConfig: takesBudget ? undefined : { display: "summarized" } })
    if (requestedTokens === undefined) return { call: shown }
    return { call: { ...shown, reasoning: reasoning ?? "medium" }, warnings: [NO_BUDGET] }
  }
  const share = own<number>(SHARES, reasoning ?? "medium") ?? 0
  return { call: withBudget(call, requestedTokens ?? Math.round(share * thinking.maxOutputTokens), thinking) }
}

const CANNOT_STOP: SharedV4Warning = {
  ...{ type: "compatibility", feature: "reasoning" },
  details: "thinking cannot be turned off for this model, so the lowest effort is used",
}
const NO_BUDGET: SharedV4Warning = {
  ...{ type: "unsupported", feature: "budget" },
  details: "it does not count what it thinks with; effort says how much",
}

/** The adapter adds the budget to the maximum reply, so the maximum is reduced here. */
function withBudget(
  call: LanguageModelV4CallOptions,
  requestedTokens: number,
  { maxOutputTokens, isKnownModel }: ClaudeThinking,
): LanguageModelV4CallOptions {
  const most = call.maxOutputTokens ?? (isKnownModel ? maxOutputTokens : Number.POSITIVE_INFINITY)
  const room = most - MIN_TEXT_TOKENS
  const { reasoning: _, ...withoutReasoning } = withFields(call, { reasoningConfig: undefined })
  if (room < MIN_THINKING_TOKENS || hasCallsWithoutReasoning(call.prompt)) return withoutReasoning
  const budgetTokens = Math.min(Math.max(requestedTokens, MIN_THINKING_TOKENS), room)
  const words = most - budgetTokens
  return {
    ...withFields(withoutReasoning, { reasoningConfig: { type: "enabled", budgetTokens } }),
    maxOutputTokens: call.maxOutputTokens === undefined ? Math.min(words, DEFAULT_TEXT_TOKENS) : words,
  }
}

/**
 * Whether the reply in progress, since the last user message without pending calls, starts without reasoning of this
 * model. With a budget it would have to start with it.
 */
function hasCallsWithoutReasoning(prompt: LanguageModelV4Prompt): boolean {
  let first: LanguageModelV4Message | undefined
  // Whether the last visited turn, going back, has results. User text next to results belongs to their turn.
  let hasResults = false
  let isNewTurn = true
  for (const message of prompt.toReversed()) {
    if (message.role === "assistant") {
      if (!hasResults) break
      first = message
      isNewTurn = true
    } else {
      hasResults = message.role === "tool" || (hasResults && !isNewTurn)
      isNewTurn = false
    }
  }
  return first !== undefined && !startsWithReasoning(first)
}

/** The adapter leaves out reasoning that is neither signed nor encrypted. */
function startsWithReasoning({ content }: LanguageModelV4Message): boolean {
  const [first] = content as readonly { readonly type: string; readonly providerOptions?: Fields }[]
  const { signature, redactedContent, redactedData } = (first?.providerOptions?.bedrock ?? {}) as Fields
  return first?.type === "reasoning" && Boolean(signature ?? redactedContent ?? redactedData)
}

const budgetIn = ({ providerOptions }: LanguageModelV4CallOptions): number | undefined =>
  (providerOptions?.bedrock?.reasoningConfig as { budgetTokens?: number } | undefined)?.budgetTokens

/** Sets fields for Bedrock; undefined removes one. */
function withFields(call: LanguageModelV4CallOptions, fields: Fields): LanguageModelV4CallOptions {
  const all = Object.entries({ ...call.providerOptions?.bedrock, ...fields })
  const bedrock = Object.fromEntries(all.filter(([, value]) => value !== undefined))
  return { ...call, providerOptions: { ...call.providerOptions, bedrock } } as LanguageModelV4CallOptions
}

/** Adds warnings to those of the adapter. */
const warning = (more: readonly SharedV4Warning[]) =>
  new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
    transform(part, controller) {
      controller.enqueue(part.type === "stream-start" ? { ...part, warnings: [...part.warnings, ...more] } : part)
    },
  })
