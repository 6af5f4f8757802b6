import type { LanguageModelV4, SharedV4ProviderOptions } from "@ai-sdk/provider"
import { isHostLabel, splitQuery, toAzureEndpoint, toBaseUrl } from "./endpoints/endpoint.ts"
import { toGeminiEndpoint, toVersionedUrl, withQuery } from "./endpoints/endpoint.ts"
import { type ModelListing, type ProviderProbe, toListing } from "./model-listing.ts"
import { toldItsBound, withThinkingInBounds } from "./request/messages-body.ts"
import type { Quirks } from "./quirks.ts"
import type { Dialect } from "./settings-reader.ts"

/** How a provider is reached with the settings at hand. */
export interface ProviderConnection {
  /** Leads to an address where the prices of the catalogue hold. */
  readonly listPrice: boolean
  /** What settings are told in; without, in what every adapter understands. */
  readonly dialect?: Dialect
  readonly providerOptions?: SharedV4ProviderOptions
  readonly quirks?: Quirks
  /** It keeps what it has read where a request is marked, and nothing unasked. */
  readonly marksCache?: boolean
  /** Its replies come in frames of Amazon's event streams, and not as events of a text. */
  readonly inFrames?: boolean
  /** What of this is otherwise for one of its models: clouds serve those of several makers. */
  readonly ofModel?: (id: string) => Pick<ProviderConnection, "dialect" | "marksCache">
  /** Where it tells which models it has, if it does. */
  readonly listing?: ModelListing
  /** What it answers for nothing, where it tells no models that we would read. */
  readonly probe?: ProviderProbe
  open(id: string, fetch: typeof globalThis.fetch): Promise<LanguageModelV4>
}

/** What is set for one provider. */
export interface GivenAccess {
  readonly apiKey: string | undefined
  readonly baseUrl: string | undefined
  /** What else its line in the list names. */
  readonly more?: Readonly<Record<string, string | undefined>>
}

/**
 * What keeps a provider from being reached, by the names of its means: something is not set (or, in its place, all of
 * `or`), is no http address, or is not what it has to be.
 */
export type Lack =
  | { readonly lacks: string; readonly or?: readonly string[] }
  | { readonly notAnAddress: "baseUrl" }
  | { readonly wrong: string; readonly mustBe: string }

export type Connect = (given: GivenAccess) => ProviderConnection | Lack

// Adapters are imported when a connection is opened, never before: each takes a tenth of a second. Of two packages it is
// the entry for other packages, because the usual one reads the environment while it loads, and fails to where
// `OPENAI_BASE_URL` is set but blank.

export const connectOpenai: Connect = ({ apiKey, baseUrl: given }) => {
  const baseUrl = given === undefined ? "https://api.openai.com/v1" : toBaseUrl(given)
  if (!baseUrl) return { notAnAddress: "baseUrl" }
  const own = /(^|\.)api\.openai\.com$/.test(new URL(baseUrl).hostname)
  // Other servers under that address speak chat completions only, and the local ones among them want no key.
  if (!own) return compatibleServer("openai", { baseUrl, apiKey })
  if (!apiKey) return { lacks: "apiKey" }
  return { ...responsesServer(baseUrl, { Authorization: `Bearer ${apiKey}` }), listPrice: true }
}

/** Deployments of one's own go by the names that they were given, so that nothing is known of their prices. */
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
        // For calls that come without an id; ours are given to them later.
        generateId: () => crypto.randomUUID(),
        fetch: withQuery(fetch, query),
      })
    },
  }
}

/** A provider that speaks OpenAI's chat completions at an address of its own, and wants a key. */
export const connectCompatible =
  (name: string, usual: string, quirks?: Quirks): Connect =>
  ({ apiKey, baseUrl: given }) => {
    if (!apiKey) return { lacks: "apiKey" }
    const baseUrl = toBaseUrl(given ?? usual)
    if (!baseUrl) return { notAnAddress: "baseUrl" }
    const listPrice = new URL(baseUrl).hostname === new URL(usual).hostname
    return compatibleServer(name, { baseUrl, apiKey, listPrice, quirks })
  }

/** Whoever runs a model there may not have told the server how it thinks, and each server writes as it likes. */
const OWN_SERVER: Quirks = { thinksInTags: true, writesLoosely: true }

/** A server of somebody's own that speaks them too: it is reached where it is set to be, with a key if it wants one. */
export const connectOwnServer =
  (name: string, toAddress: (text: string) => string | undefined): Connect =>
  ({ apiKey, baseUrl: given }) => {
    if (given === undefined) return { lacks: "baseUrl" }
    const baseUrl = toAddress(given)
    if (!baseUrl) return { notAnAddress: "baseUrl" }
    // Ollama also rents its own machines out, under the same protocol.
    const isRented = /(^|\.)ollama\.com$/.test(new URL(baseUrl).hostname)
    return compatibleServer(name, { baseUrl, apiKey, listPrice: !isRented, quirks: OWN_SERVER })
  }

/** How a server is reached that is not a provider's own. */
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
    // The journal is where conversations are kept: OpenAI stores nothing, and thinking comes back to us encrypted.
    // Schemas of answers are a help: held to strictly, OpenAI takes few of them.
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

/** Their lists of models: OpenAI, Azure, Anthropic and Gemini have them at the same place. */
function probeAt(baseUrl: string, headers: Readonly<Record<string, string>>): ProviderProbe {
  const { base, query } = splitQuery(baseUrl)
  return { url: `${base}/models${query}`, headers }
}

/** Any server that speaks OpenAI's chat completions. */
export function compatibleServer(name: string, access: Compatible): ProviderConnection {
  const { baseUrl, apiKey, headers, listPrice = false, quirks } = access
  return {
    listPrice,
    dialect: "chat",
    ...(quirks ? { quirks } : {}),
    listing: toListing(name, access),
    async open(id, fetch) {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible")
      const { mendedFetch } = await import("./stream/mended-stream.ts")
      const { base, query } = splitQuery(baseUrl)
      const includeUsage = !quirks?.countsUnasked
      const asking = withQuery(quirks?.writesLoosely ? mendedFetch(fetch) : fetch, query)
      const options = { name, baseURL: base, apiKey, headers, includeUsage, fetch: asking }
      return createOpenAICompatible(options).chatModel(id)
    },
  }
}

/** Any server that speaks Anthropic's messages. */
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
    // Gateways in front of it know marks too, or say that they do not.
    marksCache: true,
    ...(quirks ? { quirks } : {}),
    async open(id, fetch) {
      const { AnthropicLanguageModel } = await import("@ai-sdk/anthropic/internal")
      const { base, query } = splitQuery(baseUrl)
      return toldItsBound(
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
