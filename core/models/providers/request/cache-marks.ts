import type { LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider"
import { AppError } from "../../../protocol/errors.ts"
import type { Dialect } from "../settings-target.ts"

/** Anthropic's mark, and Bedrock's, which is a block after the marked one. */
const MARK = { anthropic: { cacheControl: { type: "ephemeral" } } } as const
const POINT = { bedrock: { cachePoint: { type: "default" } } } as const

/**
 * Marks what a provider should cache, for providers that cache nothing by themselves: after tools and instructions, at
 * the end of this request, and at the end of the previous request, which is what the cache contains. Three of the four
 * marks that Anthropic and Bedrock allow. On blocks and not on the request, because gateways pass blocks on.
 */
export function withCacheMarks(prompt: LanguageModelV4Prompt, dialect?: Dialect): LanguageModelV4Prompt {
  const mark = dialect === "converse" ? POINT : MARK
  const end = prompt.length - 1
  const lastReply = prompt.findLastIndex(({ role }) => role === "assistant")
  const marked = new Set([prompt.findLastIndex(({ role }) => role === "system"), lastReply - 1, end])
  return prompt.map((message, at) =>
    marked.has(at) && !endsWithReasoning(message) ? withMark(message, mark) : message,
  )
}

/** Neither allows a mark there: Bedrock would reject it and every later request. */
const endsWithReasoning = ({ role, content }: LanguageModelV4Message): boolean =>
  role === "assistant" && content.at(-1)?.type === "reasoning"

/** The adapter puts it on the last block of the message, or after it. */
function withMark(message: LanguageModelV4Message, mark: typeof MARK | typeof POINT): LanguageModelV4Message {
  return { ...message, providerOptions: { ...message.providerOptions, ...mark } } as LanguageModelV4Message
}

/** Whether a server rejected a request because of its marks. Bedrock reports it as a permission error. */
export const refusesMarks = (error: unknown): boolean =>
  error instanceof AppError &&
  (error.code === "provider_error" || error.code === "auth") &&
  /cache.?(?:control|point)|allow prompt caching/i.test(error.message)
