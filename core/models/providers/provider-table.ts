import { similarName } from "../../engine/calls/read-input.ts"
import { own } from "../../shared/text/json.ts"
import { cloudPrices } from "./clouds/cloud-prices.ts"
import { type Provider, providers } from "./list.ts"
import { catalogue, FREE, type ModelEntry, sourcedFrom } from "./model-catalogue.ts"
import type { NamedEndpoint } from "./endpoints/named-endpoint.ts"
import type { ModelSettings } from "./settings.ts"

/** The window of a named endpoint's models, like that of the provider it usually replaces. */
const ENDPOINT_CONTEXT_TOKENS = 128_000

/** Current models of these providers accept images and PDFs. One that rejects them does so once, and then gets text. */
const ACCEPTS_FILES: ReadonlySet<string> = new Set(["anthropic", "google", "openai"])
const FILE_FEATURES = ["tools", "images", "files"] as const
const TOOLS = ["tools"] as const

/** Whether an id is safe in a path: no `..`, no terminator, no encoding. */
const isPath = (id: string): boolean =>
  /^[\w.@:-]+(?:\/[\w.@:-]+)*$/.test(id) && !id.split("/").some((segment) => /^\.+$/.test(segment))

const MAX_SIMILAR = 5
/** Without its provider. */
const idOf = (name: string) => name.slice(name.lastIndexOf("/") + 1)
const familyOf = (name: string) => /^[a-z]+/i.exec(idOf(name))?.[0] ?? ""

/** All providers and models: built-in ones and those of the operator's endpoints. */
export class ProviderTable {
  readonly names: readonly string[]
  readonly models: readonly ModelEntry[]
  /** Providers without listed models. */
  readonly unlisted: readonly string[]
  readonly #byName: ReadonlyMap<string, ModelEntry>
  /** By exact provider and id, because long lists are looked up. */
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
    // The first one takes precedence.
    this.#byId = new Map(this.models.toReversed().map((entry) => [`${entry.provider}/${entry.id}`, entry]))
    this.#byName = new Map(
      this.models.flatMap((entry) => [entry.name, ...entry.aliases].map((name) => [name.toLowerCase(), entry])),
    )
  }

  /** Similar model names: a typo away, or of the same family, such as all that start with `gpt`. */
  similar(wanted: string): string[] {
    const names = this.models.map(({ name }) => name)
    const isSimilar = (one: string, other: string) => similarName(one, [other]) !== undefined
    const slips = names.filter((name) => isSimilar(wanted, name) || isSimilar(idOf(wanted), idOf(name)))
    const family = names.filter((name) => isSimilar(familyOf(wanted), familyOf(name)))
    return [...new Set([...slips, ...family])].slice(0, MAX_SIMILAR)
  }

  /** The display name. */
  labelOf(name: string): string {
    return own<Provider>(providers, name)?.label ?? name
  }

  /** Whether only the operator can configure it. */
  isNamed(name: string): boolean {
    return this.#endpoints.has(name)
  }

  /** The model of a name or an alias. */
  resolve(name: string): ModelEntry | undefined {
    return this.#byName.get(name.toLowerCase()) ?? this.#resolveUnlisted(name)
  }

  /** Any model of a provider by its own id, such as `openai/gpt-4o`. */
  #resolveUnlisted(name: string): ModelEntry | undefined {
    const slash = name.indexOf("/")
    const provider = name.slice(0, Math.max(slash, 0)).toLowerCase()
    const id = name.slice(slash + 1)
    if (!this.#isProvider.has(provider) || id === "") return undefined
    const listed = this.#byId.get(`${provider}/${id}`)
    if (listed) return listed
    const { contextTokens = ENDPOINT_CONTEXT_TOKENS, wants, idsInPath } = own<Provider>(providers, provider) ?? {}
    // The id becomes part of the path of a request that may carry the operator's key.
    if (idsInPath && !this.isNamed(provider) && !isPath(id)) return undefined
    const listPrice = this.isNamed(provider) ? undefined : own(cloudPrices, `${provider}/${id}`)
    // Self-hosted.
    const price = listPrice ?? (wants === "address" ? FREE : null)
    const sources = sourcedFrom("assumed", listPrice ? "catalogue" : price ? "assumed" : undefined)
    const features = ACCEPTS_FILES.has(provider) ? FILE_FEATURES : TOOLS
    return { name: `${provider}/${id}`, provider, id, aliases: [], features, contextTokens, price, sources }
  }
}

/** One table without endpoints, and one per list of endpoints. */
const tables = new WeakMap<readonly NamedEndpoint[], ProviderTable>()
const NONE: readonly NamedEndpoint[] = []

export function providerTable({ endpoints = NONE }: ModelSettings): ProviderTable {
  const table = tables.get(endpoints) ?? new ProviderTable(endpoints)
  tables.set(endpoints, table)
  return table
}
