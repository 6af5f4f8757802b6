import { nearName } from "../../engine/calls/read-input.ts"
import { own } from "../../shared/text/json.ts"
import { cloudPrices } from "./clouds/cloud-prices.ts"
import { type Provider, providers } from "./list.ts"
import { catalogue, FREE, type ModelEntry, sourcedFrom } from "./model-catalogue.ts"
import type { NamedEndpoint } from "./endpoints/named-endpoint.ts"
import type { ModelSettings } from "./settings.ts"

/** The same of an endpoint that has a name as of the provider in whose place it mostly stands. */
const ENDPOINT_CONTEXT_TOKENS = 128_000

/** All that these offer today can be shown images and PDFs. One that cannot refuses once, and is told in words from then on. */
const SEEING: ReadonlySet<string> = new Set(["anthropic", "google", "openai"])
const SEES = ["tools", "images", "files"] as const
const TOOLS = ["tools"] as const

/** What can stand in the path of a request and leads nowhere but to a model: no `..`, nothing that ends it, nothing encoded. */
const isPath = (id: string): boolean =>
  /^[\w.@:-]+(?:\/[\w.@:-]+)*$/.test(id) && !id.split("/").some((segment) => /^\.+$/.test(segment))

const MAX_NEAR = 5
/** Without the provider before it. */
const idOf = (name: string) => name.slice(name.lastIndexOf("/") + 1)
const familyOf = (name: string) => /^[a-z]+/i.exec(idOf(name))?.[0] ?? ""

/** Which providers and models there are: those that everybody has, and those that an operator has named. */
export class ProviderTable {
  readonly names: readonly string[]
  readonly models: readonly ModelEntry[]
  /** Providers of which no model is in a list. */
  readonly unlisted: readonly string[]
  readonly #byName: ReadonlyMap<string, ModelEntry>
  /** By provider and id as they are written: a list asks for each of thousands. */
  readonly #byId: ReadonlyMap<string, ModelEntry>
  readonly #isProvider: ReadonlySet<string>
  readonly #endpoints: ReadonlyMap<string, NamedEndpoint>

  constructor(endpoints: readonly NamedEndpoint[]) {
    this.#endpoints = new Map(endpoints.map((endpoint) => [endpoint.name, endpoint]))
    this.names = [...new Set([...Object.keys(providers), ...this.#endpoints.keys()])]
    this.models = [...endpoints.flatMap(({ models }) => models), ...catalogue]
    this.#isProvider = new Set(this.names)
    const listed = new Set(this.models.map(({ provider }) => provider))
    this.unlisted = this.names.filter((name) => !listed.has(name))
    // Of several the first.
    this.#byId = new Map(this.models.toReversed().map((entry) => [`${entry.provider}/${entry.id}`, entry]))
    this.#byName = new Map(
      this.models.flatMap((entry) => [entry.name, ...entry.aliases].map((name) => [name.toLowerCase(), entry])),
    )
  }

  /** Names of models that were probably meant: a slip away, or of the same family, such as all that begin with `gpt`. */
  near(wanted: string): string[] {
    const names = this.models.map(({ name }) => name)
    const isNear = (one: string, other: string) => nearName(one, [other]) !== undefined
    const slips = names.filter((name) => isNear(wanted, name) || isNear(idOf(wanted), idOf(name)))
    const family = names.filter((name) => isNear(familyOf(wanted), familyOf(name)))
    return [...new Set([...slips, ...family])].slice(0, MAX_NEAR)
  }

  /** As people call it. */
  labelOf(name: string): string {
    return own<Provider>(providers, name)?.label ?? name
  }

  /** Whether nobody but the operator can say how it is reached. */
  isNamed(name: string): boolean {
    return this.#endpoints.has(name)
  }

  /** What a name or an alias stands for. */
  resolve(name: string): ModelEntry | undefined {
    return this.#byName.get(name.toLowerCase()) ?? this.#passedThrough(name)
  }

  /** `openai/gpt-4o` and the like: any model of a provider, under the name its provider gives it. */
  #passedThrough(name: string): ModelEntry | undefined {
    const slash = name.indexOf("/")
    const provider = name.slice(0, Math.max(slash, 0)).toLowerCase()
    const id = name.slice(slash + 1)
    if (!this.#isProvider.has(provider) || id === "") return undefined
    const listed = this.#byId.get(`${provider}/${id}`)
    if (listed) return listed
    const { contextTokens = ENDPOINT_CONTEXT_TOKENS, wants, idsInPath } = own<Provider>(providers, provider) ?? {}
    // The key that goes along may be the operator's, whoever chose the name.
    if (idsInPath && !this.isNamed(provider) && !isPath(id)) return undefined
    const listPrice = this.isNamed(provider) ? undefined : own(cloudPrices, `${provider}/${id}`)
    // What is reached by its address alone is a machine of somebody's own.
    const price = listPrice ?? (wants === "address" ? FREE : null)
    const sources = sourcedFrom("assumed", listPrice ? "catalogue" : price ? "assumed" : undefined)
    const features = SEEING.has(provider) ? SEES : TOOLS
    return { name: `${provider}/${id}`, provider, id, aliases: [], features, contextTokens, price, sources }
  }
}

/** Without endpoints it is the same for everybody; with them, for everybody who has these. */
const tables = new WeakMap<readonly NamedEndpoint[], ProviderTable>()
const NONE: readonly NamedEndpoint[] = []

export function providerTable({ endpoints = NONE }: ModelSettings): ProviderTable {
  const table = tables.get(endpoints) ?? new ProviderTable(endpoints)
  tables.set(endpoints, table)
  return table
}
