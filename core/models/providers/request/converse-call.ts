import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  SharedV4Warning,
} from "@ai-sdk/provider"
import { own } from "../../../shared/text/json.ts"
import { LEAST_THINKING, LEAST_WORDS } from "./messages-body.ts"

/** How a model of Claude's thinks. */
export interface ClaudeThinking {
  /** It thinks as much as it likes, which an effort steers. */
  readonly supportsAdaptiveThinking: boolean
  /** It can be told how much, in tokens, all the same. */
  readonly takesBudget: boolean
  readonly rejectsThinkingDisabled: boolean
  readonly maxOutputTokens: number
  /** Otherwise its longest reply is a guess. */
  readonly isKnownModel: boolean
}

type Fields = Readonly<Record<string, unknown>>

/** A call as it goes to the adapter, and what of it was changed on the way. */
interface Asked {
  readonly call: LanguageModelV4CallOptions
  readonly warnings?: readonly SharedV4Warning[]
}

/** How much of its longest reply such a model thinks with, where it has to be told a number. */
const SHARES: Readonly<Record<string, number>> = {
  minimal: 0.02,
  low: 0.1,
  medium: 0.3,
  high: 0.6,
  xhigh: 0.9,
  max: 0.95,
}

/** What is left for words beside a budget where nobody bounds the reply. */
const USUAL_WORDS = 4096

/**
 * A model of Claude's at Bedrock whose thinking counts against the longest reply, as in `messages-body.ts`; here before the adapter
 * makes a body of the call, because bodies are signed.
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

function toConverse(call: LanguageModelV4CallOptions, thinking: ClaudeThinking): Asked {
  const { reasoning } = call
  const { supportsAdaptiveThinking: isFree, takesBudget, rejectsThinkingDisabled } = thinking
  const wished = budgetIn(call)
  if (reasoning === "none") {
    // The others think only where they are asked to.
    if (!isFree) return { call }
    if (rejectsThinkingDisabled) return { call: { ...call, reasoning: "low" }, warnings: [CANNOT_STOP] }
    return { call: withFields(call, { additionalModelRequestFields: { thinking: { type: "disabled" } } }) }
  }
  if (wished === undefined && (reasoning === undefined || reasoning === "provider-default")) return { call }
  if (isFree && !(takesBudget && wished !== undefined)) {
    // Of some the thinking would come without a word unless it is asked for.
    const shown = withFields(call, { reasoningConfig: takesBudget ? undefined : { display: "summarized" } })
    if (wished === undefined) return { call: shown }
    return { call: { ...shown, reasoning: reasoning ?? "medium" }, warnings: [NO_BUDGET] }
  }
  const share = own<number>(SHARES, reasoning ?? "medium") ?? 0
  return { call: withBudget(call, wished ?? Math.round(share * thinking.maxOutputTokens), thinking) }
}

const CANNOT_STOP: SharedV4Warning = {
  ...{ type: "compatibility", feature: "reasoning" },
  details: "thinking cannot be turned off for this model, so the lowest effort is used",
}
const NO_BUDGET: SharedV4Warning = {
  ...{ type: "unsupported", feature: "budget" },
  details: "it does not count what it thinks with; effort says how much",
}

/** The adapter puts the budget on top of the longest reply: here that is so much less. */
function withBudget(
  call: LanguageModelV4CallOptions,
  wished: number,
  { maxOutputTokens, isKnownModel }: ClaudeThinking,
): LanguageModelV4CallOptions {
  const most = call.maxOutputTokens ?? (isKnownModel ? maxOutputTokens : Number.POSITIVE_INFINITY)
  const room = most - LEAST_WORDS
  const { reasoning: _, ...unthought } = withFields(call, { reasoningConfig: undefined })
  if (room < LEAST_THINKING || hasUnthoughtCalls(call.prompt)) return unthought
  const budgetTokens = Math.min(Math.max(wished, LEAST_THINKING), room)
  const words = most - budgetTokens
  return {
    ...withFields(unthought, { reasoningConfig: { type: "enabled", budgetTokens } }),
    maxOutputTokens: call.maxOutputTokens === undefined ? Math.min(words, USUAL_WORDS) : words,
  }
}

/**
 * Whether the reply that is under way, since a person has last spoken and no call was waiting, begins without a thought of the
 * model's own: given a budget it has to.
 */
function hasUnthoughtCalls(prompt: LanguageModelV4Prompt): boolean {
  let first: LanguageModelV4Message | undefined
  // Whether the turn that was met last, going back, holds results. What a person says beside results is one turn with them.
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
  return first !== undefined && !beginsWithThought(first)
}

/** The adapter leaves out what is not signed or sealed. */
function beginsWithThought({ content }: LanguageModelV4Message): boolean {
  const [first] = content as readonly { readonly type: string; readonly providerOptions?: Fields }[]
  const { signature, redactedContent, redactedData } = (first?.providerOptions?.bedrock ?? {}) as Fields
  return first?.type === "reasoning" && Boolean(signature ?? redactedContent ?? redactedData)
}

const budgetIn = ({ providerOptions }: LanguageModelV4CallOptions): number | undefined =>
  (providerOptions?.bedrock?.reasoningConfig as { budgetTokens?: number } | undefined)?.budgetTokens

/** A call with these fields for Bedrock; one that is undefined goes. */
function withFields(call: LanguageModelV4CallOptions, fields: Fields): LanguageModelV4CallOptions {
  const all = Object.entries({ ...call.providerOptions?.bedrock, ...fields })
  const bedrock = Object.fromEntries(all.filter(([, value]) => value !== undefined))
  return { ...call, providerOptions: { ...call.providerOptions, bedrock } } as LanguageModelV4CallOptions
}

/** What the adapter says of the request, and this beside it. */
const warning = (more: readonly SharedV4Warning[]) =>
  new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
    transform(part, controller) {
      controller.enqueue(part.type === "stream-start" ? { ...part, warnings: [...part.warnings, ...more] } : part)
    },
  })
