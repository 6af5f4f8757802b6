import type { ReplySettings } from "../../../protocol/conversation/reply-settings.ts"

/** How hard to think, of those who are to think at all. */
type ThinkingEffort = Exclude<NonNullable<ReplySettings["effort"]>, "none">

/** How one says in chat completions whether and how much to think, where it is not by `reasoning_effort` alone. */
export interface ChatWords {
  readonly thinking?: (on: boolean) => Record<string, unknown>
  /** Never beside an effort: who takes both in one refuses the request. */
  readonly budget?: (tokens: number) => Record<string, unknown>
  /** The nearest of the efforts it has, where it refuses the others. */
  readonly effort?: (wished: ThinkingEffort) => ThinkingEffort
  /** It passes over the wish for one call at a time. */
  readonly noParallel?: boolean
}

/** By both names that templates know; each passes over what it does not. */
const byTemplate = (on: boolean) => ({ chat_template_kwargs: { enable_thinking: on, thinking: on } })

/** By provider; others speak as OpenAI does. Where each of them says so: decision 057. */
export const chatWords: Readonly<Record<string, ChatWords>> = {
  mistral: { thinking: (on) => ({ reasoningEffort: on ? "high" : "none" }), effort: () => "high" },
  deepseek: {
    thinking: (on) => ({ thinking: { type: on ? "enabled" : "disabled" } }),
    noParallel: true,
  },
  openrouter: {
    thinking: (enabled) => ({ reasoning: { enabled } }),
    budget: (max) => ({ reasoning: { max_tokens: max } }),
  },
  vllm: { thinking: byTemplate },
  llamacpp: { thinking: byTemplate },
  lmstudio: { noParallel: true },
  ollama: { noParallel: true },
}
