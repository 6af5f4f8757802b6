import type { LanguageModelV4, SharedV4ProviderOptions } from "@ai-sdk/provider"
import { splitQuery, toBaseUrl, toVersionedUrl, withQuery } from "./endpoint.ts"

/** How a provider is reached with the settings at hand. */
export interface ProviderConnection {
  /** Leads to an address where the prices of the catalogue hold. */
  readonly listPrice: boolean
  readonly providerOptions?: SharedV4ProviderOptions
  open(id: string, fetch: typeof globalThis.fetch): Promise<LanguageModelV4>
}

/** What is set for one provider. */
export interface GivenAccess {
  readonly apiKey: string | undefined
  readonly baseUrl: string | undefined
}

/** What keeps a provider from being reached: something is not set, or is no http address. */
export type Lack = { readonly lacks: "apiKey" | "baseUrl" } | { readonly notAnAddress: "baseUrl" }

export type Connect = (given: GivenAccess) => ProviderConnection | Lack

// Adapters are imported when a connection is opened, never before: each takes a tenth of a second. Of two packages it is
// the entry for other packages, because the usual one reads the environment while it loads, and fails to where
// `OPENAI_BASE_URL` is set but blank.

export const connectOpenai: Connect = ({ apiKey, baseUrl: given }) => {
  const baseUrl = given === undefined ? "https://api.openai.com/v1" : toBaseUrl(given)
  if (!baseUrl) return { notAnAddress: "baseUrl" }
  const own = /(^|\.)api\.openai\.com$/.test(new URL(baseUrl).hostname)
  // Other servers under that address speak chat completions only, and the local ones among them want no key.
  if (!own) return compatible("openai", { baseUrl, apiKey })
  if (!apiKey) return { lacks: "apiKey" }
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

export const connectAnthropic: Connect = ({ apiKey, baseUrl: given }) => {
  if (!apiKey) return { lacks: "apiKey" }
  const baseUrl = toVersionedUrl(given ?? "https://api.anthropic.com")
  if (!baseUrl) return { notAnAddress: "baseUrl" }
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

/** A provider that speaks OpenAI's chat completions at an address of its own, and wants a key. */
export const connectCompatible =
  (name: string, usual: string): Connect =>
  ({ apiKey, baseUrl: given }) => {
    if (!apiKey) return { lacks: "apiKey" }
    const baseUrl = toBaseUrl(given ?? usual)
    if (!baseUrl) return { notAnAddress: "baseUrl" }
    const listPrice = new URL(baseUrl).hostname === new URL(usual).hostname
    return compatible(name, { baseUrl, apiKey, listPrice })
  }

/** A server of somebody's own that speaks them too, and wants none: it is reached where it is set to be. */
export const connectOwnServer =
  (name: string, toAddress: (text: string) => string | undefined): Connect =>
  ({ baseUrl: given }) => {
    if (given === undefined) return { lacks: "baseUrl" }
    const baseUrl = toAddress(given)
    return baseUrl ? compatible(name, { baseUrl, listPrice: true }) : { notAnAddress: "baseUrl" }
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
