import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider"

/** The fields of a request for Anthropic's messages that are used here. */
interface Body {
  readonly max_tokens?: number
  readonly thinking?: { readonly type?: string; readonly budget_tokens?: number }
  readonly messages?: readonly { readonly role: string; readonly content: string | readonly Block[] }[]
}

interface Block {
  readonly type: string
}

/** The minimum reasoning budget, and the text that we reserve besides it. */
export const MIN_THINKING_TOKENS = 1024
export const MIN_TEXT_TOKENS = 1024

/**
 * Makes reasoning count towards the maximum reply, as a spending limit requires: the adapter adds it on top. With a
 * budget, a reply with calls must start with reasoning, so a reply that started without it, or by another model,
 * continues without a budget.
 */
export function withThinkingInBounds(body: Record<string, unknown>, most: number | undefined): Record<string, unknown> {
  const { thinking, max_tokens: max, messages = [] } = body as Body
  if (thinking?.type !== "enabled") return body
  const { thinking: _, ...without } = body
  const bound = most === undefined || max === undefined ? max : Math.min(most, max)
  const room = (bound ?? Number.POSITIVE_INFINITY) - MIN_TEXT_TOKENS
  const bounded = bound === undefined ? {} : { max_tokens: bound }
  if (room < MIN_THINKING_TOKENS || hasCallsWithoutReasoning(messages)) return { ...without, ...bounded }
  const budget_tokens = Math.min(thinking.budget_tokens ?? MIN_THINKING_TOKENS, room)
  return { ...body, ...bounded, thinking: { ...thinking, budget_tokens } }
}

/**
 * Creates the model again for each request, which is cheap: only so the body's transformation knows the maximum reply.
 */
export function withReplyLimit(make: (most?: number) => LanguageModelV4): LanguageModelV4 {
  return Object.assign(make(), {
    doStream: (call: LanguageModelV4CallOptions) => make(call.maxOutputTokens).doStream(call),
  })
}

/** Whether the reply in progress has calls without reasoning before them. */
function hasCallsWithoutReasoning(messages: NonNullable<Body["messages"]>): boolean {
  const asked = messages.findLastIndex(({ role, content }) => role === "user" && !blocksOf(content).some(isResult))
  const first = messages.slice(asked + 1).find(({ role }) => role === "assistant")
  return first !== undefined && !/^(?:redacted_)?thinking$/.test(blocksOf(first.content)[0]?.type ?? "")
}

const blocksOf = (content: string | readonly Block[]): readonly Block[] =>
  typeof content === "string" ? [{ type: "text" }] : content
const isResult = ({ type }: Block): boolean => type === "tool_result"
