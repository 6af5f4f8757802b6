import type { ReplySettings } from "../../../protocol/conversation/reply-settings.ts"

/** The effort of a model that should reason. */
type ThinkingEffort = Exclude<NonNullable<ReplySettings["effort"]>, "none">

/** How a provider's chat completions control reasoning, other than by `reasoning_effort`. */
export interface ChatReasoning {
  readonly thinking?: (on: boolean) => Record<string, unknown>
  /** Never together with an effort, which would be rejected. */
  readonly budget?: (tokens: number) => Record<string, unknown>
  /** The nearest supported effort, if others are rejected. */
  readonly effort?: (wished: ThinkingEffort) => ThinkingEffort
  /** It ignores `parallel_tool_calls`. */
  readonly noParallel?: boolean
}

/** Both names that chat templates know; unknown ones are ignored. */
const byTemplate = (on: boolean) => ({ chat_template_kwargs: { enable_thinking: on, thinking: on } })

/**
 * Providers that deviate from OpenAI's `reasoning_effort` and `parallel_tool_calls`, by their documentation of November
 * 2026. Groq and xAI follow OpenAI.
 */
export const chatReasoning: Readonly<Record<string, ChatReasoning>> = {
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
