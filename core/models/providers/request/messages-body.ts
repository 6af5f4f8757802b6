import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider"

/** What of a request for Anthropic's messages we look at. */
interface Body {
  readonly max_tokens?: number
  readonly thinking?: { readonly type?: string; readonly budget_tokens?: number }
  readonly messages?: readonly { readonly role: string; readonly content: string | readonly Block[] }[]
}

interface Block {
  readonly type: string
}

/** The least that such a model thinks with, and what we leave for its words beside that. */
export const LEAST_THINKING = 1024
export const LEAST_WORDS = 1024

/**
 * A request in which thinking counts against the longest reply, as a ceiling on costs does: the adapter puts it on top.
 * And one that is not refused: while such a model is given a budget, a reply with calls has to begin with its thinking, so
 * one that was begun without, or by another model, is finished without.
 */
export function withThinkingInBounds(body: Record<string, unknown>, most: number | undefined): Record<string, unknown> {
  const { thinking, max_tokens: max, messages = [] } = body as Body
  if (thinking?.type !== "enabled") return body
  const { thinking: _, ...without } = body
  const bound = most === undefined || max === undefined ? max : Math.min(most, max)
  const room = (bound ?? Number.POSITIVE_INFINITY) - LEAST_WORDS
  const bounded = bound === undefined ? {} : { max_tokens: bound }
  if (room < LEAST_THINKING || hasUnthoughtCalls(messages)) return { ...without, ...bounded }
  const budget_tokens = Math.min(thinking.budget_tokens ?? LEAST_THINKING, room)
  return { ...body, ...bounded, thinking: { ...thinking, budget_tokens } }
}

/** A model made anew for each request, which costs nothing: only so does what changes the body know how long the reply may be. */
export function toldItsBound(make: (most?: number) => LanguageModelV4): LanguageModelV4 {
  return Object.assign(make(), {
    doStream: (call: LanguageModelV4CallOptions) => make(call.maxOutputTokens).doStream(call),
  })
}

/** Whether the reply that is under way has made calls without a thought before them. */
function hasUnthoughtCalls(messages: NonNullable<Body["messages"]>): boolean {
  const asked = messages.findLastIndex(({ role, content }) => role === "user" && !blocksOf(content).some(isResult))
  const first = messages.slice(asked + 1).find(({ role }) => role === "assistant")
  return first !== undefined && !/^(?:redacted_)?thinking$/.test(blocksOf(first.content)[0]?.type ?? "")
}

const blocksOf = (content: string | readonly Block[]): readonly Block[] =>
  typeof content === "string" ? [{ type: "text" }] : content
const isResult = ({ type }: Block): boolean => type === "tool_result"
