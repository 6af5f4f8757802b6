/** How one says in chat completions whether and how much to think, where it is not by `reasoning_effort` alone. */
export interface ChatWords {
  readonly thinking?: (on: boolean) => Record<string, unknown>
  readonly budget?: (tokens: number) => Record<string, unknown>
  /** It takes no effort at all, or refuses to be told. */
  readonly noEffort?: boolean
  /** It passes over the wish for one call at a time. */
  readonly noParallel?: boolean
}

const byTemplate = (on: boolean) => ({ chat_template_kwargs: { enable_thinking: on } })

/** By provider; others speak as OpenAI does. */
export const chatWords: Readonly<Record<string, ChatWords>> = {
  mistral: { noEffort: true },
  deepseek: {
    thinking: (on) => ({ thinking: { type: on ? "enabled" : "disabled" } }),
    noEffort: true,
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
