import { type Compatible, compatibleServer, messagesServer, type ProviderConnection } from "../connect.ts"
import { toBaseUrl, toVersionedUrl } from "./endpoint.ts"
import type { ModelEntry } from "../model-catalogue.ts"
import type { Quirks } from "../quirks.ts"

/** The formats of an endpoint: OpenAI's chat completions, or Anthropic's messages. */
export const endpointKinds = ["openai", "anthropic"] as const
export type EndpointKind = (typeof endpointKinds)[number]

/** An endpoint that the operator has named, with its values from the environment. */
export interface NamedEndpoint {
  readonly name: string
  readonly kind: EndpointKind
  readonly baseUrl: string
  readonly apiKey?: string
  readonly headers: Readonly<Record<string, string>>
  /** The listed models. Any other is available as `name/id`. */
  readonly models: readonly ModelEntry[]
  readonly quirks?: Quirks
  /** Environment variables that it refers to and that are not set. */
  readonly missing: readonly string[]
  /** Texts that must never be shown. */
  readonly secrets: readonly string[]
}

const baseUrlOf: Readonly<Record<EndpointKind, (text: string) => string | undefined>> = {
  openai: toBaseUrl,
  anthropic: toVersionedUrl,
}

/** The normalized address; undefined if it is not an HTTP address. */
export const endpointAddress = (kind: EndpointKind, text: string): string | undefined => baseUrlOf[kind](text)

/** The connection, or the settings that are missing. */
export function connectEndpoint(endpoint: NamedEndpoint): ProviderConnection | { readonly need: string } {
  const { name, kind, apiKey, headers, missing, quirks } = endpoint
  if (missing.length > 0) return { need: `set ${missing.join(" and ")}` }
  const baseUrl = endpointAddress(kind, endpoint.baseUrl)
  if (!baseUrl) return { need: `the address of ${name} is not an http address` }
  // The operator has set its prices.
  const access: Compatible = { baseUrl, apiKey, headers, listPrice: true, quirks }
  return kind === "anthropic" ? messagesServer(access) : compatibleServer(name, access)
}
