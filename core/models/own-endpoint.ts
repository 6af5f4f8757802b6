import type { ChangedEndpoint, EndpointFacts, NewAccess, ProviderView } from "../protocol/models/providers.ts"
import { endpointAddress, type NamedEndpoint } from "./providers/endpoints/named-endpoint.ts"
import { sourcedFrom } from "./providers/model-catalogue.ts"
import { CONTEXT_TOKENS, isSecretHeader, reserved } from "./providers/endpoints/read-endpoints.ts"

/** How a person reaches a provider by their own means. */
export interface OwnAccess {
  readonly apiKey?: string
  readonly baseUrl?: string
  /** What else the provider takes, by the names that its line in the list gives. */
  readonly fields?: Readonly<Record<string, string>>
  /** It is no provider's, but an endpoint to which the person gave this name. */
  readonly endpoint?: EndpointFacts
  /** An operator has stored it while only this machine reached the server: its address may be one of this machine. */
  readonly onThisMachine?: true
}

/** How many one person may have: each is opened with every change of any. */
export const MAX_ENDPOINTS = 50
/** How many models all of them together may list: each stands in every list that the person sees. */
export const MAX_LISTED = 2000

/** The endpoints among what a person has stored, as the models take them. */
export function ownEndpoints(brought: ReadonlyMap<string, OwnAccess | "unreadable">): NamedEndpoint[] {
  return [...brought].flatMap(([name, access]) => (access === "unreadable" ? [] : toEndpoint(name, access)))
}

function toEndpoint(name: string, { apiKey, baseUrl = "", endpoint }: OwnAccess): NamedEndpoint[] {
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

/** What a request brings, as it is stored. */
export function newEndpoint({ apiKey, baseUrl, kind, headers, models, quirks }: NewAccess): OwnAccess {
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

/** The same with what is new. A key and headers that were given for one address never travel to another. */
export function changedEndpoint(
  { apiKey, baseUrl, endpoint }: OwnAccess,
  { apiKey: newKey, baseUrl: address = baseUrl, ...changed }: ChangedEndpoint,
): OwnAccess {
  const moves = address !== baseUrl
  const { headers, ...rest } = endpoint ?? { kind: "openai" }
  const key = newKey === undefined && !moves ? apiKey : newKey
  return newEndpoint({ ...rest, headers: moves ? undefined : headers, ...changed, apiKey: key, baseUrl: address })
}

/** Whether anything can have this name: up to 40 small letters, digits and `-`. */
export const isEndpointName = (text: string): boolean => /^[a-z][a-z0-9-]{0,39}$/.test(text)

/** Whether a name is a provider's, a model's or an alias. */
export const isReserved = (name: string): boolean => reserved().has(name)

/** Why something cannot be an endpoint of a person's own. */
export function problemWithEndpoint({ apiKey, baseUrl, endpoint }: OwnAccess): string | undefined {
  const { kind = "openai", headers = {}, models = [] } = endpoint ?? {}
  if (!baseUrl || !endpointAddress(kind, baseUrl)) return "baseUrl: say where it is, such as https://models.example/v1."
  const own = kind === "anthropic" ? "x-api-key" : "authorization"
  if (apiKey && headers[own] !== undefined) return `headers.${own}: apiKey is sent as this. Leave one of them out.`
  const ids = models.map(({ id }) => id.toLowerCase())
  const twice = ids.find((id, at) => ids.indexOf(id) !== at)
  return twice === undefined ? undefined : `models: ${twice} is there twice.`
}

/** What is told of it: neither its key nor what its headers hold. */
export function endpointView({ apiKey, endpoint }: OwnAccess): Pick<ProviderView, "endpoint"> {
  if (!endpoint) return {}
  const { kind, headers = {}, models = [], quirks } = endpoint
  const facts = { kind, hasKey: apiKey !== undefined, headers: Object.keys(headers), models: [...models] }
  return { endpoint: { ...facts, ...(quirks ? { quirks } : {}) } }
}
