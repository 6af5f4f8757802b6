import type { Lack, ProviderConnection } from "./connect.ts"
import { own } from "../../shared/text/json.ts"
import { type Means, meansOf, type Provider, providers, type ReachableProvider } from "./list.ts"
import { connectEndpoint, type NamedEndpoint } from "./endpoints/named-endpoint.ts"

type Each = (typeof providers)[ReachableProvider]
type MoreOf<Line> = Line extends { readonly more: infer More } ? More[keyof More] : never
type EachMeans = Each["baseUrl"] | Each["apiKey"] | MoreOf<Each>

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
export const providerMeans = all.flatMap((each) => Object.values(meansOf(each))) as Means<
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
  const keys = providerMeans.flatMap(({ field, isSecret }) =>
    isSecret && given[field] ? secretsIn(given[field] as string) : [],
  )
  return [...keys, ...(settings.endpoints ?? []).flatMap(({ secrets }) => secrets)]
}

/** What to hide of a secret: of a key in PEM each of its lines, because its first words stand above every other one. */
export function secretsIn(text: string): string[] {
  if (!text.includes("-----BEGIN")) return [text]
  return text.split(/-----[A-Z ]*-----|\\n|\s/).filter((line) => line.length >= 16)
}

/** The connection, or what must be set to have one. */
export function connectTo(name: string, settings: ModelSettings): ProviderConnection | { readonly need: string } {
  const endpoint = settings.endpoints?.find((each) => each.name === name)
  if (endpoint) return connectEndpoint(endpoint)
  const provider = own<Provider>(providers, name)
  if (!provider) return { need: `there is no provider ${name}` }
  const given = settings as Readonly<Record<string, unknown>>
  const means = meansOf(provider)
  const set = Object.entries(means).map(([each, { field }]) => [each, given[field]] as const)
  const found = accessTo(provider, Object.fromEntries(set) as Readonly<Record<string, string | undefined>>)
  return "open" in found ? found : { need: needOf(found, means) }
}

/** A provider with these means, by their names. */
export function accessTo(
  { connect }: Provider,
  { apiKey, baseUrl, ...more }: Readonly<Record<string, string | undefined>>,
): ProviderConnection | Lack {
  return connect({ apiKey, baseUrl, more })
}

function needOf(lack: Lack, means: Readonly<Record<string, Means>>): string {
  const variable = (name: string) => means[name]?.variable ?? name
  if ("notAnAddress" in lack) return `${variable("baseUrl")} is not an http address`
  if ("wrong" in lack) return `${variable(lack.wrong)} must be ${lack.mustBe}`
  const chosenBy = lack.or?.map((name) => means[name]?.onlyWith).find((setting) => setting !== undefined)
  const beside = chosenBy ? `, with ${chosenBy}=on` : ""
  const either = lack.or ? `, or ${lack.or.map(variable).join(" and ")}${beside}` : ""
  return `set ${variable(lack.lacks)}${either}`
}
