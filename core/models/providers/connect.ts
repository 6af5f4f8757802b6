import type { LanguageModelV4, SharedV4ProviderOptions } from "@ai-sdk/provider"
import { isHostLabel, splitQuery, toAzureEndpoint, toBaseUrl } from "./endpoints/endpoint.ts"
import { toGeminiEndpoint, toVersionedUrl, withQuery } from "./endpoints/endpoint.ts"
import { type ModelListing, type ProviderProbe, toListing } from "./model-listing.ts"
import { withReplyLimit, withThinkingInBounds } from "./request/messages-body.ts"
import type { Quirks } from "./quirks.ts"
import type { Dialect } from "./settings-target.ts"

/** How a provider is reached with the current settings. */
export interface ProviderConnection {
  /** The address charges the prices of the catalogue. */
  readonly listPrice: boolean
  /** The wire format for settings; without it, only settings that every adapter understands are sent. */
  readonly dialect?: Dialect
  readonly providerOptions?: SharedV4ProviderOptions
  readonly quirks?: Quirks
  /** It caches marked parts of a request, and nothing else. */
  readonly marksCache?: boolean
  /** Its replies are Amazon event-stream frames, not server-sent events. */
  readonly inFrames?: boolean
  /** Properties that differ per model: clouds serve models of several makers. */
  readonly ofModel?: (id: string) => Pick<ProviderConnection, "dialect" | "marksCache">
  /** The address of its model list, if it has one. */
  readonly listing?: ModelListing
  /** A free request that checks access, if there is no readable list. */
  readonly probe?: ProviderProbe
  open(id: string, fetch: typeof globalThis.fetch): Promise<LanguageModelV4>
}

/** The settings of one provider. */
export interface ProviderFields {
  readonly apiKey: string | undefined
  readonly baseUrl: string | undefined
  /** Its further fields. */
  readonly more?: Readonly<Record<string, string | undefined>>
}

/**
 * Why a provider cannot be reached, by the names of its fields: one is missing (or, alternatively, all of `or`), is not
 * an HTTP address, or is invalid.
 */
export type Lack =
  | { readonly lacks: string; readonly or?: readonly string[] }
  | { readonly notAnAddress: "baseUrl" }
  | { readonly wrong: string; readonly mustBe: string }

export type Connect = (given: ProviderFields) => ProviderConnection | Lack

// Adapters are imported when a connection is opened, because each takes a tenth of a second. Two packages are imported
// by their internal entry: the public one reads the environment while loading, and fails if `OPENAI_BASE_URL` is set
// but blank.

export const connectOpenai: Connect = ({ apiKey, baseUrl: given }) => {
  const baseUrl = given === undefined ? "https://api.openai.com/v1" : toBaseUrl(given)
  if (!baseUrl) return { notAnAddress: "baseUrl" }
  const own = /(^|\.)api\.openai\.com$/.test(new URL(baseUrl).hostname)
  // Other servers only support chat completions, and local ones need no key.
  if (!own) return compatibleServer("openai", { baseUrl, apiKey })
  if (!apiKey) return { lacks: "apiKey" }
  return { ...responsesServer(baseUrl, { Authorization: `Bearer ${apiKey}` }), listPrice: true }
}

/** Deployments have custom names, so their prices are unknown. */
export const connectAzure: Connect = ({ apiKey, baseUrl: given, more }) => {
  if (!apiKey) return { lacks: "apiKey" }
  const resource = more?.resourceName
  if (given === undefined && resource === undefined) return { lacks: "baseUrl", or: ["resourceName"] }
  if (resource !== undefined && !isHostLabel(resource))
    return { wrong: "resourceName", mustBe: "the name of a resource: letters, digits and -" }
  const baseUrl = toAzureEndpoint(given ?? `https://${resource}.openai.azure.com`)
  return baseUrl ? responsesServer(baseUrl, { "api-key": apiKey }) : { notAnAddress: "baseUrl" }
}

export const connectAnthropic: Connect = ({ apiKey, baseUrl: given }) => {
  if (!apiKey) return { lacks: "apiKey" }
  const baseUrl = toVersionedUrl(given ?? "https://api.anthropic.com")
  if (!baseUrl) return { notAnAddress: "baseUrl" }
  const own = new URL(baseUrl).hostname === "api.anthropic.com"
  return messagesServer({ baseUrl, apiKey, listPrice: own })
}

const GOOGLE = "https://generativelanguage.googleapis.com"

export const connectGoogle: Connect = ({ apiKey, baseUrl: given }) => {
  if (!apiKey) return { lacks: "apiKey" }
  const baseUrl = toGeminiEndpoint(given ?? GOOGLE)
  if (!baseUrl) return { notAnAddress: "baseUrl" }
  return {
    listPrice: new URL(baseUrl).hostname === new URL(GOOGLE).hostname,
    dialect: "gemini",
    probe: probeAt(baseUrl, { "x-goog-api-key": apiKey }),
    async open(id, fetch) {
      const { GoogleLanguageModel } = await import("@ai-sdk/google/internal")
      const { base, query } = splitQuery(baseUrl)
      return new GoogleLanguageModel(id, {
        provider: "google.generative-ai",
        baseURL: base,
        headers: { "x-goog-api-key": apiKey },
        // For calls without an id; they get ours later.
        generateId: () => crypto.randomUUID(),
        fetch: withQuery(fetch, query),
      })
    },
  }
}

/** A provider with OpenAI's chat completions at its own address, which needs a key. */
export const connectCompatible =
  (name: string, usual: string, quirks?: Quirks): Connect =>
  ({ apiKey, baseUrl: given }) => {
    if (!apiKey) return { lacks: "apiKey" }
    const baseUrl = toBaseUrl(given ?? usual)
    if (!baseUrl) return { notAnAddress: "baseUrl" }
    const listPrice = new URL(baseUrl).hostname === new URL(usual).hostname
    return compatibleServer(name, { baseUrl, apiKey, listPrice, quirks })
  }

/** Self-hosted servers may not separate thinking from text, and their streams vary. */
const OWN_SERVER: Quirks = { thinksInTags: true, writesLoosely: true }

/** A self-hosted server with chat completions, with a key if it needs one. */
export const connectOwnServer =
  (name: string, toAddress: (text: string) => string | undefined): Connect =>
  ({ apiKey, baseUrl: given }) => {
    if (given === undefined) return { lacks: "baseUrl" }
    const baseUrl = toAddress(given)
    if (!baseUrl) return { notAnAddress: "baseUrl" }
    // Ollama also sells hosted models over the same protocol.
    const isRented = /(^|\.)ollama\.com$/.test(new URL(baseUrl).hostname)
    return compatibleServer(name, { baseUrl, apiKey, listPrice: !isRented, quirks: OWN_SERVER })
  }

/** How a compatible server is reached. */
export interface Compatible {
  readonly baseUrl: string
  readonly apiKey?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly listPrice?: boolean
  readonly quirks?: Quirks | undefined
}

function responsesServer(baseUrl: string, headers: Readonly<Record<string, string>>): ProviderConnection {
  return {
    listPrice: false,
    dialect: "responses",
    probe: probeAt(baseUrl, headers),
    // The journal stores conversations: OpenAI stores nothing and returns encrypted reasoning. Answer schemas are not
    // strict, because OpenAI accepts few as strict.
    providerOptions: { openai: { store: false, strictJsonSchema: false } },
    async open(id, fetch) {
      const { OpenAIResponsesLanguageModel } = await import("@ai-sdk/openai/internal")
      const { base, query } = splitQuery(baseUrl)
      return new OpenAIResponsesLanguageModel(id, {
        provider: "openai.responses",
        url: ({ path }) => base + path,
        headers: () => ({ ...headers }),
        fetch: withQuery(fetch, query),
      })
    },
  }
}

/** Free model lists: OpenAI, Azure, Anthropic and Gemini have them at the same path. */
function probeAt(baseUrl: string, headers: Readonly<Record<string, string>>): ProviderProbe {
  const { base, query } = splitQuery(baseUrl)
  return { url: `${base}/models${query}`, headers }
}

/** Any server with OpenAI's chat completions. */
export function compatibleServer(name: string, access: Compatible): ProviderConnection {
  const { baseUrl, apiKey, headers, listPrice = false, quirks } = access
  return {
    listPrice,
    dialect: "chat",
    ...(quirks ? { quirks } : {}),
    listing: toListing(name, access),
    async open(id, fetch) {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible")
      const { repairedFetch } = await import("./stream/repaired-stream.ts")
      const { base, query } = splitQuery(baseUrl)
      const includeUsage = !quirks?.countsUnasked
      const asking = withQuery(quirks?.writesLoosely ? repairedFetch(fetch) : fetch, query)
      const options = { name, baseURL: base, apiKey, headers, includeUsage, fetch: asking }
      return createOpenAICompatible(options).chatModel(id)
    },
  }
}

/** Any server with Anthropic's messages. */
export function messagesServer({
  baseUrl,
  apiKey,
  headers,
  listPrice = false,
  quirks,
}: Compatible): ProviderConnection {
  const sent = { "anthropic-version": "2023-06-01", ...(apiKey ? { "x-api-key": apiKey } : {}), ...headers }
  return {
    listPrice,
    dialect: "messages",
    probe: probeAt(baseUrl, sent),
    // Gateways support cache marks, too, or reject them.
    marksCache: true,
    ...(quirks ? { quirks } : {}),
    async open(id, fetch) {
      const { AnthropicLanguageModel } = await import("@ai-sdk/anthropic/internal")
      const { base, query } = splitQuery(baseUrl)
      return withReplyLimit(
        (most) =>
          new AnthropicLanguageModel(id, {
            provider: "anthropic.messages",
            baseURL: base,
            headers: sent,
            transformRequestBody: (body) => withThinkingInBounds(body, most),
            fetch: withQuery(fetch, query),
          }),
      )
    },
  }
}
