import type { ModelEndpoint } from "../protocol/models/providers.ts"
import { own } from "../shared/text/json.ts"
import type { EndpointAccess } from "./discovery/ask-json.ts"
import type { EndpointLists, Urgency } from "./discovery/endpoint-lists.ts"
import { withTold } from "./discovery/known-facts.ts"
import type { ToldModel } from "./discovery/told-model.ts"
import { type Provider, providers } from "./providers/list.ts"
import type { ModelEntry } from "./providers/model-catalogue.ts"
import type { ProviderTable } from "./providers/provider-table.ts"

export interface ListsOptions {
  readonly kept: EndpointLists
  /** Under which name a person's own endpoints are kept: what they say is seen by nobody else. */
  readonly owner?: string
  /** Whose they are: of looks and of what is kept each person has a share. */
  readonly person?: string
  /** A ceiling holds, so that a model without a price cannot be used: its price is waited for. */
  readonly needsPrices?: boolean
}

export interface ListedEndpoint extends Omit<EndpointAccess, "owner"> {
  /** It is reached with a person's own means. */
  readonly isOwn: boolean
}

/** The models of one registry with what their endpoints say of them, and those that nobody else has told of. */
export class DiscoveredModels {
  readonly #options: ListsOptions
  readonly #table: ProviderTable
  readonly #accessTo: (provider: string) => ListedEndpoint | undefined

  constructor(options: ListsOptions, table: ProviderTable, accessTo: (provider: string) => ListedEndpoint | undefined) {
    this.#options = options
    this.#table = table
    this.#accessTo = accessTo
  }

  /** Those of the table, and behind them what endpoints list, by provider and name. */
  all(): ModelEntry[] {
    const { models, names } = this.#table
    const known = new Set(models)
    // Once for each: to find out how an endpoint is reached takes longer than to look a model up.
    const lists = new Map(names.map((provider) => [provider, this.#listOf(provider)]))
    const told = [...lists].flatMap(([provider, list]) => {
      const entries = [...list.values()].flatMap((model) => {
        const entry = this.#table.resolve(`${provider}/${model.id}`)
        return entry && !known.has(entry) ? [withTold(entry, model)] : []
      })
      return entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))
    })
    return [...models.map((entry) => toldBy(lists.get(entry.provider) ?? NOTHING, entry)), ...told]
  }

  /**
   * The model as it is known now. Where its size is anybody's guess its endpoint is asked meanwhile, and the next who wants it
   * knows more. It is waited for only where nothing could be done without: for a price that a ceiling needs.
   */
  async toldOf(entry: ModelEntry): Promise<ModelEntry> {
    const { provider } = entry
    const access = this.#accessTo(provider)
    if (!access) return entry
    const key = this.#keyOf(provider, access)
    const told = toldBy(this.#options.kept.modelsOf(key), entry)
    const { kept, needsPrices = false } = this.#options
    const isLocal = own<Provider>(providers, provider)?.wants === "address"
    const { contextTokens: from } = told.sources
    if (from === "catalogue" || from === "operator") return told
    // A local model is loaded with the first question, and its server knows its size from then on.
    const urgency = isLocal && from === "assumed" ? "soon" : "usual"
    const look = kept.look(key, () => this.#withOwner(access), urgency)
    const waits = needsPrices && !access.isOwn && access.listing.tellsPrices && told.price === null
    if (!waits || kept.hasAnswered(key)) return told
    await look
    return toldBy(kept.modelsOf(key), entry)
  }

  /** The models that a provider's endpoint lists; "unlisted" if it has no list, "silent" if it does not answer, "unreadable" if not with a list. */
  async listedBy(provider: string, wait: (answer: Promise<void>) => Promise<void>) {
    const access = this.#accessTo(provider)
    if (!access) return "unlisted"
    const key = this.#keyOf(provider, access)
    const { kept } = this.#options
    await wait(kept.look(key, () => this.#withOwner(access)))
    // An endpoint that answered before and does not now would only fail.
    if (kept.stateOf(key).state === "failed" && !kept.isSilent(key)) return "unreadable"
    if (!kept.hasAnswered(key) || kept.stateOf(key).state === "failed") return "silent"
    return [...kept.modelsOf(key).values()].flatMap((model) => {
      const entry = this.#table.resolve(`${provider}/${model.id}`)
      return entry ? [withTold(entry, model)] : []
    })
  }

  /** Resolves once these endpoints have answered their first list, or `wait` has given up. An endpoint that answered before is not waited for. */
  async firstListsOf(providers: readonly string[], wait: (answers: Promise<unknown>) => Promise<void>): Promise<void> {
    const { kept } = this.#options
    const looks = providers.flatMap((provider) => {
      const access = this.#accessTo(provider)
      if (!access) return []
      const key = this.#keyOf(provider, access)
      return kept.hasAnswered(key) ? [] : [kept.look(key, () => this.#withOwner(access))]
    })
    if (looks.length > 0) await wait(Promise.all(looks))
  }

  /** The models that endpoints list under exactly this id, at most one of each provider. Asks no endpoint. */
  listedAs(id: string): ModelEntry[] {
    return this.#table.names.flatMap((provider) => {
      const model = this.#listOf(provider).get(id)
      const entry = model && this.#table.resolve(`${provider}/${id}`)
      return entry ? [withTold(entry, model)] : []
    })
  }

  /** The models that the endpoint has instead of this preset of a local model server; undefined if it may have the preset. */
  listedInsteadOf({ provider, id }: Pick<ModelEntry, "provider" | "id">): string[] | undefined {
    const access = this.#accessTo(provider)
    if (!access) return undefined
    const key = this.#keyOf(provider, access)
    const { kept } = this.#options
    const models = kept.modelsOf(key)
    if (!kept.hasAnswered(key) || kept.stateOf(key).leftOut > 0 || models.has(id)) return undefined
    return [...models.keys()].flatMap((each) => this.#table.resolve(`${provider}/${each}`)?.name ?? [])
  }

  /** Asks every endpoint that can be reached and whose last answer is old. */
  async look(urgency: Urgency): Promise<void> {
    await Promise.all(this.#each((access, key) => this.#options.kept.look(key, () => this.#withOwner(access), urgency)))
  }

  /** Why the endpoint of a provider did not list its models; undefined if it was not asked, or answered. */
  problemOf(provider: string): string | undefined {
    const access = this.#accessTo(provider)
    return (access && this.#options.kept.stateOf(this.#keyOf(provider, access)).problem) ?? undefined
  }

  states(): ModelEndpoint[] {
    return this.#each((_, key, provider) => ({ provider, ...this.#options.kept.stateOf(key) }))
  }

  #listOf(provider: string): ReadonlyMap<string, ToldModel> {
    const access = this.#accessTo(provider)
    return access ? this.#options.kept.modelsOf(this.#keyOf(provider, access)) : NOTHING
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

const NOTHING: ReadonlyMap<string, ToldModel> = new Map()

function toldBy(list: ReadonlyMap<string, ToldModel>, entry: ModelEntry): ModelEntry {
  // Ollama takes a name without a tag for the newest.
  const model = list.get(entry.id) ?? list.get(`${entry.id}:latest`)
  return model ? withTold(entry, model) : entry
}
