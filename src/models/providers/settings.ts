import type { GivenAccess, ProviderConnection } from "./connect.ts"
import { own } from "../../protocol/own.ts"
import { type Means, type Provider, providers, type ReachableProvider } from "./list.ts"
import { connectEndpoint, type NamedEndpoint } from "./named-endpoint.ts"

type Each = (typeof providers)[ReachableProvider]
type EachMeans = Each["baseUrl"] | Each["apiKey"]

/** The variables of the environment by which providers are set. */
export type ProviderVariable = EachMeans["variable"]

/**
 * What the models need to know of the world: for each provider its key and its address, as the list names them. `config.ts`
 * fills it from the environment; a person may bring keys of their own.
 */
export type ModelSettings = { readonly [Field in EachMeans["field"]]?: string } & {
  /** `PAWL_MODEL`: the model of conversations that chose none. */
  readonly defaultModel?: string
  /** `PAWL_MODEL_IDLE_SECONDS`: how long a model may stay silent; 60. */
  readonly idleSeconds?: number
  /** `PAWL_PROVIDERS`: what its file holds. */
  readonly endpoints?: readonly NamedEndpoint[]
}

const all = Object.values<Provider>(providers)

/** All that is set for providers, in the order of the list. */
export const providerMeans = all.flatMap(({ apiKey, baseUrl }) => [apiKey, baseUrl]) as Means<
  EachMeans["field"],
  ProviderVariable
>[]

/** The environment variable behind each setting, for messages that say what to set and for whoever reads the environment. */
export const settingVariables = {
  ...Object.fromEntries(providerMeans.map(({ field, variable }) => [field, variable])),
  defaultModel: "PAWL_MODEL",
  idleSeconds: "PAWL_MODEL_IDLE_SECONDS",
} as { readonly [M in EachMeans as M["field"]]: M["variable"] } & {
  readonly defaultModel: "PAWL_MODEL"
  readonly idleSeconds: "PAWL_MODEL_IDLE_SECONDS"
}

/** What there is to set, of each provider one thing, to have a model at all: its key, or where it is. */
export const leastVariables = all.map(({ wants, apiKey, baseUrl }) => (wants === "address" ? baseUrl : apiKey).variable)

/** The same settings with blank texts taken as absent: `OPENAI_BASE_URL=` in a compose file means that there is none. */
export function withoutBlanks(settings: ModelSettings): ModelSettings {
  const entries = Object.entries(settings).map(([name, value]) => [
    name,
    typeof value === "string" ? value.trim() : value,
  ])
  return Object.fromEntries(entries.filter(([, value]) => value !== "" && value !== undefined))
}

/** Every key among the settings, and what endpoints are sent: a gateway may well quote another provider's. */
export function providerSecrets(settings: ModelSettings): string[] {
  const given = settings as Readonly<Record<string, unknown>>
  const keys = all.flatMap(({ apiKey }) => (given[apiKey.field] as string | undefined) ?? [])
  return [...keys, ...(settings.endpoints ?? []).flatMap(({ secrets }) => secrets)]
}

/** The connection, or what must be set to have one. */
export function connectTo(name: string, settings: ModelSettings): ProviderConnection | { readonly need: string } {
  const endpoint = settings.endpoints?.find((each) => each.name === name)
  if (endpoint) return connectEndpoint(endpoint)
  const provider = own<Provider>(providers, name)
  if (!provider) return { need: `there is no provider ${name}` }
  const { apiKey, baseUrl, connect } = provider
  const given = settings as Readonly<Record<string, unknown>>
  const access = { apiKey: given[apiKey.field], baseUrl: given[baseUrl.field] }
  const found = connect(access as GivenAccess)
  if ("lacks" in found) return { need: `set ${(found.lacks === "apiKey" ? apiKey : baseUrl).variable}` }
  return "notAnAddress" in found ? { need: `${baseUrl.variable} is not an http address` } : found
}
