import type { ChangedEndpoint, EndpointFacts, NewAccess, ProviderView } from "../protocol/models/providers.ts"
import { endpointAddress, type NamedEndpoint } from "./providers/endpoints/named-endpoint.ts"
import { sourcedFrom } from "./providers/model-catalogue.ts"
import { CONTEXT_TOKENS, isSecretHeader, reserved } from "./providers/endpoints/read-endpoints.ts"

/** A person's own access to a provider. */
export interface PersonalAccess {
  readonly apiKey?: string
  readonly baseUrl?: string
  /** Further fields that the provider needs, by name. */
  readonly fields?: Readonly<Record<string, string>>
  /** Facts about a custom endpoint, if the user configured one instead of a known provider. */
  readonly endpoint?: EndpointFacts
  /** An operator stored it while only this machine could reach the server, so it may have a loopback address. */
  readonly onThisMachine?: true
}

/** The maximum endpoints of a person: a change of any decrypts all of them. */
export const MAX_ENDPOINTS = 50
/** The maximum models of a person's endpoints, which are in every list that the person sees. */
export const MAX_LISTED = 2000

/** A person's stored endpoints, in the format of the models. */
export function personalEndpoints(stored: ReadonlyMap<string, PersonalAccess | "unreadable">): NamedEndpoint[] {
  return [...stored].flatMap(([name, access]) => (access === "unreadable" ? [] : toEndpoint(name, access)))
}

function toEndpoint(name: string, { apiKey, baseUrl = "", endpoint }: PersonalAccess): NamedEndpoint[] {
  if (!endpoint) return []
  const { kind, headers = {}, models = [], quirks } = endpoint
  const secrets = Object.entries(headers).flatMap(([each, value]) => (isSecretHeader(each, value) ? [value] : []))
  return [
    {
      ...{ name, kind, baseUrl, headers, missing: [], secrets: [...(apiKey ? [apiKey] : []), ...secrets] },
      ...{ ...(apiKey ? { apiKey } : {}), ...(quirks ? { quirks } : {}) },
      models: models.map(({ id, contextTokens, price = null }) => ({
        ...{ name: `${name}/${id}`, provider: name, id, aliases: [], features: ["tools"], price },
        contextTokens: contextTokens ?? CONTEXT_TOKENS,
        sources: {
          ...sourcedFrom("assumed", price ? "operator" : undefined),
          contextTokens: contextTokens ? "operator" : "assumed",
        },
      })),
    },
  ]
}

/** A request's endpoint, in the format of the store. */
export function newEndpoint({ apiKey, baseUrl, kind, headers, models, quirks }: NewAccess): PersonalAccess {
  return {
    ...{ ...(apiKey ? { apiKey } : {}), ...(baseUrl ? { baseUrl } : {}) },
    endpoint: {
      kind: kind ?? "openai",
      ...{
        ...(headers ? { headers: inSmallLetters(headers) } : {}),
        ...(models ? { models } : {}),
        ...(quirks ? { quirks } : {}),
      },
    },
  }
}

const inSmallLetters = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** Applies a change. The key and headers of one address are never sent to another. */
export function changedEndpoint(
  { apiKey, baseUrl, endpoint }: PersonalAccess,
  { apiKey: newKey, baseUrl: address = baseUrl, ...changed }: ChangedEndpoint,
): PersonalAccess {
  const isMoved = address !== baseUrl
  const { headers, ...rest } = endpoint ?? { kind: "openai" }
  const key = newKey === undefined && !isMoved ? apiKey : newKey
  return newEndpoint({ ...rest, headers: isMoved ? undefined : headers, ...changed, apiKey: key, baseUrl: address })
}

/** Whether an endpoint may have this name: up to 40 lower-case letters, digits and `-`. */
export const isEndpointName = (text: string): boolean => /^[a-z][a-z0-9-]{0,39}$/.test(text)

/** Whether a name belongs to a provider, model or alias. */
export const isReserved = (name: string): boolean => reserved().has(name)

/** Why this cannot be an endpoint of a person. */
export function problemWithEndpoint({ apiKey, baseUrl, endpoint }: PersonalAccess): string | undefined {
  const { kind = "openai", headers = {}, models = [] } = endpoint ?? {}
  if (!baseUrl || !endpointAddress(kind, baseUrl))
    return "baseUrl: enter its address, such as https://models.example/v1."
  const own = kind === "anthropic" ? "x-api-key" : "authorization"
  if (apiKey && headers[own] !== undefined) return `headers.${own}: apiKey is sent as this. Leave one of them out.`
  const ids = models.map(({ id }) => id.toLowerCase())
  const duplicate = ids.find((id, at) => ids.indexOf(id) !== at)
  return duplicate === undefined ? undefined : `models: ${duplicate} is there twice.`
}

/** The public facts of an endpoint: neither its key nor its headers' values. */
export function endpointView({ apiKey, endpoint }: PersonalAccess): Pick<ProviderView, "endpoint"> {
  if (!endpoint) return {}
  const { kind, headers = {}, models = [], quirks } = endpoint
  const facts = { kind, hasKey: apiKey !== undefined, headers: Object.keys(headers), models: [...models] }
  return { endpoint: { ...facts, ...(quirks ? { quirks } : {}) } }
}
