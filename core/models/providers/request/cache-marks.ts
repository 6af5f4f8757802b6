import type { LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider"
import { AppError } from "../../../protocol/errors.ts"
import type { Dialect } from "../settings-reader.ts"

/** As Anthropic says it, and as Bedrock does, for which a mark is a block of its own behind what it marks. */
const MARK = { anthropic: { cacheControl: { type: "ephemeral" } } } as const
const POINT = { bedrock: { cachePoint: { type: "default" } } } as const

/**
 * A prompt that says where a provider is to keep what it has read, for those that keep nothing unasked: after the tools and
 * instructions, at the end of this request, and where the request before it ended, which is what is found again. Three of the
 * four places that Anthropic and Bedrock allow. By blocks and not for the request as a whole, since gateways pass blocks on as they are.
 */
export function withCacheMarks(prompt: LanguageModelV4Prompt, dialect?: Dialect): LanguageModelV4Prompt {
  const mark = dialect === "converse" ? POINT : MARK
  const end = prompt.length - 1
  const lastReply = prompt.findLastIndex(({ role }) => role === "assistant")
  const marked = new Set([prompt.findLastIndex(({ role }) => role === "system"), lastReply - 1, end])
  return prompt.map((message, at) => (marked.has(at) && !endsWithThought(message) ? withMark(message, mark) : message))
}

/** Neither of them takes a mark there: Bedrock would refuse it, and every later request with it. */
const endsWithThought = ({ role, content }: LanguageModelV4Message): boolean =>
  role === "assistant" && content.at(-1)?.type === "reasoning"

/** The adapter puts it on the last block of the message, or behind it. */
function withMark(message: LanguageModelV4Message, mark: typeof MARK | typeof POINT): LanguageModelV4Message {
  return { ...message, providerOptions: { ...message.providerOptions, ...mark } } as LanguageModelV4Message
}

/** Whether a server has refused a request for its marks, which it then is asked without. Bedrock does so as if it were a matter of rights. */
export const refusesMarks = (error: unknown): boolean =>
  error instanceof AppError &&
  (error.code === "provider_error" || error.code === "auth") &&
  /cache.?(?:control|point)|allow prompt caching/i.test(error.message)
