import { type Compatible, compatibleServer, messagesServer, type ProviderConnection } from "../connect.ts"
import { toBaseUrl, toVersionedUrl } from "./endpoint.ts"
import type { ModelEntry } from "../model-catalogue.ts"
import type { Quirks } from "../quirks.ts"

/** What an endpoint can speak: OpenAI's chat completions, or Anthropic's messages. */
export const endpointKinds = ["openai", "anthropic"] as const
export type EndpointKind = (typeof endpointKinds)[number]

/** An endpoint to which the operator gave a name, with all that the environment had to say of it. */
export interface NamedEndpoint {
  readonly name: string
  readonly kind: EndpointKind
  readonly baseUrl: string
  readonly apiKey?: string
  readonly headers: Readonly<Record<string, string>>
  /** Those that a list shows. Any other goes by `name/id` as well. */
  readonly models: readonly ModelEntry[]
  readonly quirks?: Quirks
  /** Variables that it names and that are not set. */
  readonly missing: readonly string[]
  /** What must never be told of it. */
  readonly secrets: readonly string[]
}

const baseUrlOf: Readonly<Record<EndpointKind, (text: string) => string | undefined>> = {
  openai: toBaseUrl,
  anthropic: toVersionedUrl,
}

/** The address as requests have it; undefined for what is no http address. */
export const endpointAddress = (kind: EndpointKind, text: string): string | undefined => baseUrlOf[kind](text)

/** The connection, or what must be set to have one. */
export function connectEndpoint(endpoint: NamedEndpoint): ProviderConnection | { readonly need: string } {
  const { name, kind, apiKey, headers, missing, quirks } = endpoint
  if (missing.length > 0) return { need: `set ${missing.join(" and ")}` }
  const baseUrl = endpointAddress(kind, endpoint.baseUrl)
  if (!baseUrl) return { need: `the address of ${name} is not an http address` }
  // Its prices are those that the operator has given.
  const access: Compatible = { baseUrl, apiKey, headers, listPrice: true, quirks }
  return kind === "anthropic" ? messagesServer(access) : compatibleServer(name, access)
}
