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

/**
 * The providers that deviate from OpenAI's `reasoning_effort` and `parallel_tool_calls`, as their references described it in
 * November 2026. Groq and xAI do as OpenAI does.
 */
export const chatWords: Readonly<Record<string, ChatWords>> = {
  // docs.mistral.ai, capabilities/reasoning/adjustable: `high` or `none`
  mistral: { thinking: (on) => ({ reasoningEffort: on ? "high" : "none" }), effort: () => "high" },
  // api-docs.deepseek.com, guides/thinking_mode: maps each effort to the nearest of its three
  deepseek: {
    thinking: (on) => ({ thinking: { type: on ? "enabled" : "disabled" } }),
    noParallel: true,
  },
  // openrouter.ai/docs, use-cases/reasoning-tokens: `max_tokens` or an effort, not both
  openrouter: {
    thinking: (enabled) => ({ reasoning: { enabled } }),
    budget: (max) => ({ reasoning: { max_tokens: max } }),
  },
  // docs.vllm.ai, features/reasoning_outputs: `enable_thinking` (Qwen, Gemma), `thinking` (Granite, DeepSeek)
  vllm: { thinking: byTemplate },
  // llama.cpp, tools/server/README.md
  llamacpp: { thinking: byTemplate },
  // lmstudio.ai/docs and docs.ollama.com, api/openai-compatibility, do not list `parallel_tool_calls`
  lmstudio: { noParallel: true },
  ollama: { noParallel: true },
}
