import type { LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider"
import { AppError } from "../../../protocol/errors.ts"

const MARK = { anthropic: { cacheControl: { type: "ephemeral" } } } as const

/**
 * A prompt that says where a provider is to keep what it has read, for those that keep nothing unasked: after the tools and
 * instructions, at the end of this request, and where the request before it ended, which is what is found again. Three of the
 * four places that Anthropic allows. By blocks and not for the request as a whole, since gateways pass blocks on as they are.
 */
export function withCacheMarks(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const end = prompt.length - 1
  const lastReply = prompt.findLastIndex(({ role }) => role === "assistant")
  const marked = new Set([prompt.findLastIndex(({ role }) => role === "system"), lastReply - 1, end])
  return prompt.map((message, at) => (marked.has(at) ? withMark(message) : message))
}

/** The adapter puts it on the last block of the message. */
function withMark(message: LanguageModelV4Message): LanguageModelV4Message {
  return { ...message, providerOptions: { ...message.providerOptions, ...MARK } } as LanguageModelV4Message
}

/** Whether a server has refused a request for its marks, which it then is asked without. */
export const refusesMarks = (error: unknown): boolean =>
  error instanceof AppError && error.code === "provider_error" && /cache.?control/i.test(error.message)
