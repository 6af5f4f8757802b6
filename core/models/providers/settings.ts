import type { Lack, ProviderConnection } from "./connect.ts"
import { own } from "../../shared/text/json.ts"
import { type ProviderSetting, settingsOfProvider, type Provider, providers, type ReachableProvider } from "./list.ts"
import { connectEndpoint, type NamedEndpoint } from "./endpoints/named-endpoint.ts"

type Each = (typeof providers)[ReachableProvider]
type MoreOf<Line> = Line extends { readonly more: infer More } ? More[keyof More] : never
type EachSetting = Each["baseUrl"] | Each["apiKey"] | MoreOf<Each>

/** The environment variables of providers. */
export type ProviderVariable = EachSetting["variable"]

/**
 * The keys and addresses of providers, by the fields in the list. `config.ts` reads them from the environment; people
 * may have their own.
 */
export type ModelSettings = { readonly [Field in EachSetting["field"]]?: string } & {
  /** `PAWL_MODEL`: the default model. */
  readonly defaultModel?: string
  /** `PAWL_MODEL_IDLE_SECONDS`: how long a model may stay silent; 60. */
  readonly idleSeconds?: number
  /** `PAWL_PROVIDERS`: the content of its file. */
  readonly endpoints?: readonly NamedEndpoint[]
}

const all = Object.values<Provider>(providers)

/** All settings of providers, in the order of the list. */
export const allProviderSettings = all.flatMap((each) => Object.values(settingsOfProvider(each))) as ProviderSetting<
  EachSetting["field"],
  ProviderVariable
>[]

/** The environment variable of each setting. */
export const settingVariables = {
  ...Object.fromEntries(allProviderSettings.map(({ field, variable }) => [field, variable])),
  defaultModel: "PAWL_MODEL",
  idleSeconds: "PAWL_MODEL_IDLE_SECONDS",
} as { readonly [M in EachSetting as M["field"]]: M["variable"] } & {
  readonly defaultModel: "PAWL_MODEL"
  readonly idleSeconds: "PAWL_MODEL_IDLE_SECONDS"
}

/** Removes blank settings: an empty `OPENAI_BASE_URL=` in a compose file means that the setting is not set. */
export function withoutBlanks(settings: ModelSettings): ModelSettings {
  const entries = Object.entries(settings).map(([name, value]) => [
    name,
    typeof value === "string" ? value.trim() : value,
  ])
  return Object.fromEntries(entries.filter(([, value]) => value !== "" && value !== undefined))
}

/** All keys, and the secrets of endpoints: a gateway may quote another provider's key. */
export function providerSecrets(settings: ModelSettings): string[] {
  const given = settings as Readonly<Record<string, unknown>>
  const keys = allProviderSettings.flatMap(({ field, isSecret }) =>
    isSecret && given[field] ? secretsIn(given[field] as string) : [],
  )
  return [...keys, ...(settings.endpoints ?? []).flatMap(({ secrets }) => secrets)]
}

/** The texts to hide of a secret: each line of a PEM key, because all keys start with the same line. */
export function secretsIn(text: string): string[] {
  if (!text.includes("-----BEGIN")) return [text]
  return text.split(/-----[A-Z ]*-----|\\n|\s/).filter((line) => line.length >= 16)
}

/** The connection, or the settings that are missing. */
export function connectTo(name: string, settings: ModelSettings): ProviderConnection | { readonly need: string } {
  const endpoint = settings.endpoints?.find((each) => each.name === name)
  if (endpoint) return connectEndpoint(endpoint)
  const provider = own<Provider>(providers, name)
  if (!provider) return { need: `there is no provider ${name}` }
  const given = settings as Readonly<Record<string, unknown>>
  const fields = settingsOfProvider(provider)
  const set = Object.entries(fields).map(([each, { field }]) => [each, given[field]] as const)
  const found = accessTo(provider, Object.fromEntries(set) as Readonly<Record<string, string | undefined>>)
  return "open" in found ? found : { need: needOf(found, fields) }
}

/** A provider with these fields. */
export function accessTo(
  { connect }: Provider,
  { apiKey, baseUrl, ...more }: Readonly<Record<string, string | undefined>>,
): ProviderConnection | Lack {
  return connect({ apiKey, baseUrl, more })
}

function needOf(lack: Lack, fields: Readonly<Record<string, ProviderSetting>>): string {
  const variable = (name: string) => fields[name]?.variable ?? name
  if ("notAnAddress" in lack) return `${variable("baseUrl")} is not an http address`
  if ("wrong" in lack) return `${variable(lack.wrong)} must be ${lack.mustBe}`
  const chosenBy = lack.or?.map((name) => fields[name]?.onlyWith).find((setting) => setting !== undefined)
  const beside = chosenBy ? `, with ${chosenBy}=on` : ""
  const either = lack.or ? `, or ${lack.or.map(variable).join(" and ")}${beside}` : ""
  return `set ${variable(lack.lacks)}${either}`
}
