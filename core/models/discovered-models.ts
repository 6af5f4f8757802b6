import type { ModelEndpoint } from "../protocol/models/providers.ts"
import { own } from "../shared/text/json.ts"
import type { EndpointAccess } from "./discovery/json-client.ts"
import type { EndpointLists, Urgency } from "./discovery/endpoint-lists.ts"
import { withReported } from "./discovery/merge-facts.ts"
import type { ReportedModel } from "./discovery/reported-model.ts"
import { type Provider, providers } from "./providers/list.ts"
import type { ModelEntry } from "./providers/model-catalogue.ts"
import type { ProviderTable } from "./providers/provider-table.ts"

export interface EndpointListOptions {
  readonly lists: EndpointLists
  /** Namespaces the cache of a person's own endpoints, whose lists are private. */
  readonly owner?: string
  /** The person, whose share of requests and cache is limited. */
  readonly person?: string
  /** A spending limit applies, so a model without a price cannot be used, and its price is awaited. */
  readonly needsPrices?: boolean
}

export interface ListedEndpoint extends Omit<EndpointAccess, "owner"> {
  /** It is reached with the person's own credentials. */
  readonly isOwn: boolean
}

/** The models of a registry, completed with the facts and further models that their endpoints report. */
export class DiscoveredModels {
  readonly #options: EndpointListOptions
  readonly #table: ProviderTable
  readonly #accessTo: (provider: string) => ListedEndpoint | undefined

  constructor(
    options: EndpointListOptions,
    table: ProviderTable,
    accessTo: (provider: string) => ListedEndpoint | undefined,
  ) {
    this.#options = options
    this.#table = table
    this.#accessTo = accessTo
  }

  /** The models of the table, followed by those that endpoints list, by provider and name. */
  all(): ModelEntry[] {
    const { models, names } = this.#table
    const known = new Set(models)
    // Once per provider, because resolving its access is slower than looking up a model.
    const lists = new Map(names.map((provider) => [provider, this.#listOf(provider)]))
    const reported = [...lists].flatMap(([provider, list]) => {
      const entries = [...list.values()].flatMap((model) => {
        const entry = this.#table.resolve(`${provider}/${model.id}`)
        return entry && !known.has(entry) ? [withReported(entry, model)] : []
      })
      return entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))
    })
    return [...models.map((entry) => withListed(lists.get(entry.provider) ?? NOTHING, entry)), ...reported]
  }

  /**
   * The model with the facts that are known now. If its size is a guess, its endpoint is asked in the background for
   * the next caller. Only a price that a spending limit needs is awaited.
   */
  async completed(entry: ModelEntry): Promise<ModelEntry> {
    const { provider } = entry
    const access = this.#accessTo(provider)
    if (!access) return entry
    const key = this.#keyOf(provider, access)
    const reported = withListed(this.#options.lists.modelsOf(key), entry)
    const { lists, needsPrices = false } = this.#options
    const isLocal = own<Provider>(providers, provider)?.wants === "address"
    const { contextTokens: from } = reported.sources
    if (from === "catalogue" || from === "operator") return reported
    // A local server loads the model with the first request, and knows its size afterwards.
    const urgency = isLocal && from === "assumed" ? "soon" : "usual"
    const look = lists.look(key, () => this.#withOwner(access), urgency)
    const mustWait = needsPrices && !access.isOwn && access.listing.hasPrices && reported.price === null
    if (!mustWait || lists.hasAnswered(key)) return reported
    await look
    return withListed(lists.modelsOf(key), entry)
  }

  /**
   * The models that a provider's endpoint lists; "unlisted" if it has no list, "silent" if it does not answer,
   * "unreadable" if its list is invalid.
   */
  async listedBy(provider: string, wait: (answer: Promise<void>) => Promise<void>) {
    const access = this.#accessTo(provider)
    if (!access) return "unlisted"
    const key = this.#keyOf(provider, access)
    const { lists } = this.#options
    await wait(lists.look(key, () => this.#withOwner(access)))
    // An endpoint that has failed since its last answer would fail again.
    if (lists.stateOf(key).state === "failed" && !lists.isSilent(key)) return "unreadable"
    if (!lists.hasAnswered(key) || lists.stateOf(key).state === "failed") return "silent"
    return [...lists.modelsOf(key).values()].flatMap((model) => {
      const entry = this.#table.resolve(`${provider}/${model.id}`)
      return entry ? [withReported(entry, model)] : []
    })
  }

  /**
   * Resolves when these endpoints have answered for the first time, or `wait` has given up. Does not wait for endpoints
   * that have answered before.
   */
  async firstListsOf(providers: readonly string[], wait: (answers: Promise<unknown>) => Promise<void>): Promise<void> {
    const { lists } = this.#options
    const looks = providers.flatMap((provider) => {
      const access = this.#accessTo(provider)
      if (!access) return []
      const key = this.#keyOf(provider, access)
      return lists.hasAnswered(key) ? [] : [lists.look(key, () => this.#withOwner(access))]
    })
    if (looks.length > 0) await wait(Promise.all(looks))
  }

  /** Models that endpoints list with exactly this id, at most one per provider. Sends no request. */
  listedAs(id: string): ModelEntry[] {
    return this.#table.names.flatMap((provider) => {
      const model = this.#listOf(provider).get(id)
      const entry = model && this.#table.resolve(`${provider}/${id}`)
      return entry ? [withReported(entry, model)] : []
    })
  }

  /**
   * The models that the endpoint has instead of this preset of a local model server; undefined if it may have the
   * preset.
   */
  listedInsteadOf({ provider, id }: Pick<ModelEntry, "provider" | "id">): string[] | undefined {
    const access = this.#accessTo(provider)
    if (!access) return undefined
    const key = this.#keyOf(provider, access)
    const { lists } = this.#options
    const models = lists.modelsOf(key)
    if (!lists.hasAnswered(key) || lists.stateOf(key).leftOut > 0 || models.has(id)) return undefined
    return [...models.keys()].flatMap((each) => this.#table.resolve(`${provider}/${each}`)?.name ?? [])
  }

  /** Asks every reachable endpoint whose last answer is old. */
  async look(urgency: Urgency): Promise<void> {
    await Promise.all(
      this.#each((access, key) => this.#options.lists.look(key, () => this.#withOwner(access), urgency)),
    )
  }

  /** Why a provider's endpoint did not list its models; undefined if it was not asked, or answered. */
  problemOf(provider: string): string | undefined {
    const access = this.#accessTo(provider)
    return (access && this.#options.lists.stateOf(this.#keyOf(provider, access)).problem) ?? undefined
  }

  states(): ModelEndpoint[] {
    return this.#each((_, key, provider) => ({ provider, ...this.#options.lists.stateOf(key) }))
  }

  #listOf(provider: string): ReadonlyMap<string, ReportedModel> {
    const access = this.#accessTo(provider)
    return access ? this.#options.lists.modelsOf(this.#keyOf(provider, access)) : NOTHING
  }

  #withOwner(access: ListedEndpoint): EndpointAccess {
    const { owner = "", person = owner } = this.#options
    return access.isOwn ? { ...access, owner: person } : access
  }

  #each<T>(visit: (access: ListedEndpoint, key: string, provider: string) => T): T[] {
    return this.#table.names.flatMap((provider) => {
      const access = this.#accessTo(provider)
      return access ? [visit(access, this.#keyOf(provider, access), provider)] : []
    })
  }

  #keyOf(provider: string, { isOwn }: ListedEndpoint): string {
    return isOwn ? `own ${this.#options.owner ?? ""}/${provider}` : `shared/${provider}`
  }
}

const NOTHING: ReadonlyMap<string, ReportedModel> = new Map()

function withListed(list: ReadonlyMap<string, ReportedModel>, entry: ModelEntry): ModelEntry {
  // Ollama takes a name without a tag for `latest`.
  const model = list.get(entry.id) ?? list.get(`${entry.id}:latest`)
  return model ? withReported(entry, model) : entry
}
