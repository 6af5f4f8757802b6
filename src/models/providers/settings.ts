/** What the models need to know of the world. `config.ts` fills it from the environment; a person may bring keys of their own. */
export interface ModelSettings {
  /** `OPENAI_API_KEY` */
  readonly openaiApiKey?: string
  /** `OPENAI_BASE_URL`: any endpoint that speaks OpenAI's chat completions, such as OpenRouter or vLLM. */
  readonly openaiBaseUrl?: string
  /** `ANTHROPIC_API_KEY` */
  readonly anthropicApiKey?: string
  /** `ANTHROPIC_BASE_URL` */
  readonly anthropicBaseUrl?: string
  /** `DEEPSEEK_API_KEY` */
  readonly deepseekApiKey?: string
  /** `DEEPSEEK_BASE_URL` */
  readonly deepseekBaseUrl?: string
  /** `LM_STUDIO_ENDPOINT`, such as `http://127.0.0.1:1234`. */
  readonly lmStudioEndpoint?: string
  /** `OLLAMA_HOST`, as Ollama itself reads it: `127.0.0.1:11434` or a URL. */
  readonly ollamaHost?: string
  /** `PAWL_MODEL`: the model of conversations that chose none. */
  readonly defaultModel?: string
  /** `PAWL_MODEL_IDLE_SECONDS`: how long a model may stay silent; 60. */
  readonly idleSeconds?: number
}

/** The environment variable behind each setting, for messages that say what to set and for whoever reads the environment. */
export const settingVariables = {
  openaiApiKey: "OPENAI_API_KEY",
  openaiBaseUrl: "OPENAI_BASE_URL",
  anthropicApiKey: "ANTHROPIC_API_KEY",
  anthropicBaseUrl: "ANTHROPIC_BASE_URL",
  deepseekApiKey: "DEEPSEEK_API_KEY",
  deepseekBaseUrl: "DEEPSEEK_BASE_URL",
  lmStudioEndpoint: "LM_STUDIO_ENDPOINT",
  ollamaHost: "OLLAMA_HOST",
  defaultModel: "PAWL_MODEL",
  idleSeconds: "PAWL_MODEL_IDLE_SECONDS",
} as const satisfies Record<keyof ModelSettings, string>

/** The same settings with blank texts taken as absent: `OPENAI_BASE_URL=` in a compose file means that there is none. */
export function withoutBlanks(settings: ModelSettings): ModelSettings {
  const entries = Object.entries(settings).map(([name, value]) => [
    name,
    typeof value === "string" ? value.trim() : value,
  ])
  return Object.fromEntries(entries.filter(([, value]) => value !== "" && value !== undefined))
}

/** Which settings say how a provider is reached. What a person brings takes the place of both, never of one alone. */
export const accessFields = {
  openai: { apiKey: "openaiApiKey", baseUrl: "openaiBaseUrl" },
  anthropic: { apiKey: "anthropicApiKey", baseUrl: "anthropicBaseUrl" },
  deepseek: { apiKey: "deepseekApiKey", baseUrl: "deepseekBaseUrl" },
  lmstudio: { apiKey: null, baseUrl: "lmStudioEndpoint" },
  ollama: { apiKey: null, baseUrl: "ollamaHost" },
} as const satisfies Record<string, { apiKey: keyof ModelSettings | null; baseUrl: keyof ModelSettings }>
export type ReachableProvider = keyof typeof accessFields

/** Every key among the settings: a gateway may well quote another provider's. */
export function providerSecrets({ openaiApiKey, anthropicApiKey, deepseekApiKey }: ModelSettings): string[] {
  return [openaiApiKey, anthropicApiKey, deepseekApiKey].filter((key) => key !== undefined)
}
