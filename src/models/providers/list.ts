import type { LanguageModelV4, SharedV4ProviderOptions } from "@ai-sdk/provider"
import { splitQuery, toBaseUrl, toLocalEndpoint, toOllamaEndpoint, toVersionedUrl, withQuery } from "./endpoint.ts"
import { type ModelSettings, settingVariables } from "./settings.ts"

export type ProviderName = "openai" | "anthropic" | "deepseek" | "lmstudio" | "ollama" | "offline"

/** How a provider is reached with the settings at hand. */
export interface ProviderConnection {
  /** Leads to an address where the prices of the catalogue hold. */
  readonly listPrice: boolean
  readonly providerOptions?: SharedV4ProviderOptions
  open(id: string, fetch: typeof globalThis.fetch): Promise<LanguageModelV4>
}

export interface Provider {
  /** As people call it. */
  readonly label: string
  /** The connection, or what must be set to have one. */
  connect(settings: ModelSettings): ProviderConnection | { readonly need: string }
}

/**
 * Every provider. Adapters are imported when a connection is opened, never before: each takes a tenth of a second. Of
 * two packages it is the entry for other packages, because the usual one reads the environment while it loads, and
 * fails to where `OPENAI_BASE_URL` is set but blank.
 */
export const providers: Readonly<Record<Exclude<ProviderName, "offline">, Provider>> = {
  openai: { label: "OpenAI", connect: connectOpenai },
  anthropic: { label: "Anthropic", connect: connectAnthropic },
  deepseek: { label: "DeepSeek", connect: connectDeepseek },
  lmstudio: { label: "LM Studio", connect: (settings) => connectLocal("lmstudio", settings) },
  ollama: { label: "Ollama", connect: (settings) => connectLocal("ollama", settings) },
}

function connectOpenai({ openaiApiKey: apiKey, openaiBaseUrl }: ModelSettings): ProviderConnection | { need: string } {
  const baseUrl = openaiBaseUrl === undefined ? "https://api.openai.com/v1" : toBaseUrl(openaiBaseUrl)
  if (!baseUrl) return notAnAddress("openaiBaseUrl")
  const own = /(^|\.)api\.openai\.com$/.test(new URL(baseUrl).hostname)
  // Other servers under that address speak chat completions only, and the local ones among them want no key.
  if (!own) return compatible("openai", { baseUrl, apiKey })
  if (!apiKey) return missing("openaiApiKey")
  return {
    listPrice: true,
    // The journal is where conversations are kept: OpenAI stores nothing, and thinking comes back to us encrypted.
    providerOptions: { openai: { store: false } },
    async open(id, fetch) {
      const { OpenAIResponsesLanguageModel } = await import("@ai-sdk/openai/internal")
      const headers = { Authorization: `Bearer ${apiKey}` }
      const { base, query } = splitQuery(baseUrl)
      return new OpenAIResponsesLanguageModel(id, {
        provider: "openai.responses",
        url: ({ path }) => base + path,
        headers,
        fetch: withQuery(fetch, query),
      })
    },
  }
}

function connectAnthropic({
  anthropicApiKey: apiKey,
  anthropicBaseUrl,
}: ModelSettings): ProviderConnection | { need: string } {
  if (!apiKey) return missing("anthropicApiKey")
  const baseUrl = toVersionedUrl(anthropicBaseUrl ?? "https://api.anthropic.com")
  if (!baseUrl) return notAnAddress("anthropicBaseUrl")
  const own = new URL(baseUrl).hostname === "api.anthropic.com"
  return {
    listPrice: own,
    // Anthropic caches a prompt only where it is asked to. Gateways in its place may not know the question.
    ...(own ? { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } } : {}),
    async open(id, fetch) {
      const { AnthropicLanguageModel } = await import("@ai-sdk/anthropic/internal")
      const headers = { "x-api-key": apiKey, "anthropic-version": "2023-06-01" }
      const { base, query } = splitQuery(baseUrl)
      return new AnthropicLanguageModel(id, {
        provider: "anthropic.messages",
        baseURL: base,
        headers,
        fetch: withQuery(fetch, query),
      })
    },
  }
}

function connectDeepseek({ deepseekApiKey, deepseekBaseUrl }: ModelSettings): ProviderConnection | { need: string } {
  if (!deepseekApiKey) return missing("deepseekApiKey")
  const baseUrl = toBaseUrl(deepseekBaseUrl ?? "https://api.deepseek.com/v1")
  if (!baseUrl) return notAnAddress("deepseekBaseUrl")
  const listPrice = new URL(baseUrl).hostname === "api.deepseek.com"
  return compatible("deepseek", { baseUrl, apiKey: deepseekApiKey, listPrice })
}

function connectLocal(name: "lmstudio" | "ollama", settings: ModelSettings): ProviderConnection | { need: string } {
  const field = name === "lmstudio" ? "lmStudioEndpoint" : "ollamaHost"
  const text = settings[field]
  if (text === undefined) return missing(field)
  const baseUrl = name === "lmstudio" ? toLocalEndpoint(text) : toOllamaEndpoint(text)
  return baseUrl ? compatible(name, { baseUrl, listPrice: true }) : notAnAddress(field)
}

interface Compatible {
  readonly baseUrl: string
  readonly apiKey?: string | undefined
  readonly listPrice?: boolean
}

/** Any server that speaks OpenAI's chat completions. */
function compatible(name: string, { baseUrl, apiKey, listPrice = false }: Compatible): ProviderConnection {
  return {
    listPrice,
    async open(id, fetch) {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible")
      const { base, query } = splitQuery(baseUrl)
      const options = { name, baseURL: base, apiKey, includeUsage: true, fetch: withQuery(fetch, query) }
      return createOpenAICompatible(options).chatModel(id)
    },
  }
}

const missing = (field: keyof ModelSettings) => ({ need: `set ${settingVariables[field]}` })
const notAnAddress = (field: keyof ModelSettings) => ({ need: `${settingVariables[field]} is not an http address` })
