import { type Clock, sleep, systemClock } from "../shared/time/clock.ts"
import type { Model, Price } from "../engine/model.ts"
import type { ModelSource } from "../engine/ports.ts"
import { failure } from "../protocol/errors.ts"
import {
  type ModelAbilities,
  type LocalModelServer,
  type ModelEndpoint,
  toAbilities,
} from "../protocol/models/providers.ts"
import { bestKnown, bestListed, byPreference, OFFLINE, type UsableProvider } from "./default-model.ts"
import { DiscoveredModels, type ListedEndpoint, type EndpointListOptions } from "./discovered-models.ts"
import { own } from "../shared/text/json.ts"
import { type Provider, providers } from "./providers/list.ts"
import { catalogue, type ModelEntry } from "./providers/model-catalogue.ts"
import type { ProbedProvider } from "./discovery/probe.ts"
import { type ProviderTable, providerTable } from "./providers/provider-table.ts"
import type { RetryPolicy } from "./providers/retry.ts"
import { connectTo, type ModelSettings, providerSecrets, withoutBlanks } from "./providers/settings.ts"

export interface RegistryOptions {
  /** Opens the model that answers if no provider is configured. Without it, there is none. */
  readonly offline?: (() => Promise<Model>) | undefined
  readonly clock?: Clock
  /** For outgoing requests. If people provide addresses, it must check them. */
  readonly fetch?: typeof globalThis.fetch
  readonly retry?: Omit<RetryPolicy, "clock">
  /** Further texts that must never be in an error. */
  readonly secrets?: readonly string[]
  /** The cache of endpoints' model lists. Without it, no endpoint is asked. */
  readonly lists?: EndpointListOptions
  /** Overrides how a provider is reached. */
  accessTo?(provider: string): Access | undefined
  /** Rewrites what a person must do to use a provider. */
  needOf?(provider: string, need: string): string
  /** The setting of the default model, if not `PAWL_MODEL`. */
  readonly defaultSetting?: string
}

export interface Access {
  /** The person's own access, which does not count towards the operator's budget. */
  readonly own: true
  /** For requests to an address that the person provided. */
  readonly fetch?: typeof globalThis.fetch
}

/** A model as it is listed. */
export interface RegisteredModel extends Omit<ModelEntry, "price"> {
  readonly available: boolean
  /** The setting that makes it available. */
  readonly need: string | null
  readonly can: ModelAbilities
  readonly price?: Price
}

/** How to read the list. */
export interface ListReadOptions {
  /** Ask endpoints again, however recent their answers are. */
  readonly refresh?: boolean
  /** How long to wait for endpoints. */
  readonly waitMs?: number
}

export interface ListedModels {
  readonly items: RegisteredModel[]
  readonly endpoints: ModelEndpoint[]
  /** Model servers on this machine, if there is no provider. */
  readonly localServers?: LocalModelServer[]
}

/** How long the list of an endpoint is waited for to choose a default. */
const MAX_WAIT_MS = 2000
/** How many providers, or models of one, an error names. */
const MAX_NAMED = 5
/** How many usable models the error about an unknown one names. */
const MAX_KNOWN = 20

function someOf(names: readonly string[], most = MAX_NAMED): string {
  const more = names.length - most
  return names.slice(0, most).join(", ") + (more > 0 ? ` and ${more} more` : "")
}

/** Whether this is a self-hosted model server, which only has the models that were loaded into it. */
const isLocal = (provider: string): boolean => own<Provider>(providers, provider)?.wants === "address"

type ModelName = Pick<ModelEntry, "name" | "provider" | "id">

/** A model of the catalogue that a local model server may have or not. */
const isPreset = ({ provider, name }: ModelName): boolean =>
  isLocal(provider) && catalogue.some((entry) => entry.name === name)

interface CreatedModel {
  readonly model: Model
  /** The facts that it was created from. */
  readonly facts: string
}

/** The models of one set of settings: the server's, or those of a person with their own keys. Cheap to create. */
export class ModelRegistry implements ModelSource {
  readonly #settings: ModelSettings
  readonly #options: RegistryOptions
  readonly #models = new Map<string, CreatedModel>()
  readonly #discovered: DiscoveredModels | undefined
  /** Which providers and models there are, available or not. */
  readonly table: ProviderTable
  #defaultName: string | undefined

  constructor(settings: ModelSettings, options: RegistryOptions = {}) {
    this.#settings = withoutBlanks(settings)
    this.table = providerTable(this.#settings)
    this.#options = options
    const { lists } = options
    this.#discovered = lists && new DiscoveredModels(lists, this.table, (provider) => this.#accessTo(provider))
  }

  /** All known and listed models, with their availability. Sends no request. */
  list(): RegisteredModel[] {
    const known = this.#discovered?.all() ?? this.table.models
    const entries = this.#options.offline ? known : known.filter(({ provider }) => provider !== OFFLINE)
    const shared = new Map(
      this.table.names.map((name) => [name, { need: this.needOf(name), listPrice: this.#listPriceAt(name) }]),
    )
    return entries.map(({ price, sources, ...entry }) => {
      const { need = null, listPrice = true } = shared.get(entry.provider) ?? {}
      const { price: from, ...others } = sources
      const priced = price && listPrice && from ? { price, sources: { ...others, price: from } } : { sources: others }
      const lack = need ?? this.#problemWith(entry)
      return { ...entry, ...priced, can: toAbilities(entry.features), available: lack === null, need: lack }
    })
  }

  /** The same after asking endpoints whose last answer is old, in the background or while waiting. */
  async look({ refresh = false, waitMs = 0 }: ListReadOptions = {}): Promise<ListedModels> {
    const discovered = this.#discovered
    if (!discovered) return { items: this.list(), endpoints: [] }
    const answers = discovered.look(refresh ? "again" : "usual")
    if (waitMs > 0) {
      const woken = new AbortController()
      await Promise.race([answers, sleep(this.#options.clock ?? systemClock, waitMs, woken.signal)])
      woken.abort()
    }
    return { items: this.list(), endpoints: discovered.states() }
  }

  /** Whether configured providers without a model list can be reached and accept their keys. Free of charge. */
  async probe(signal: AbortSignal): Promise<ProbedProvider[]> {
    const { probe } = await import("./discovery/probe.ts")
    const localProviders = this.table.names.map(async (provider): Promise<ProbedProvider | undefined> => {
      const connection = connectTo(provider, this.#settings)
      if ("need" in connection || connection.listing) return undefined
      if (!connection.probe) return { provider, outcome: "unasked" }
      const { fetch = globalThis.fetch } = this.#fetchFor(provider)
      return { provider, ...(await probe(connection.probe, fetch, signal)) }
    })
    return (await Promise.all(localProviders)).filter((probed) => probed !== undefined)
  }

  /**
   * The model of a name or alias, available or not. A listed name takes precedence over an alias of an unusable model,
   * or of one that the same endpoint has. Sends no request. Throws `unknown_model`.
   */
  resolve(name: string): ModelEntry {
    const wanted = name.trim()
    const entry = this.table.resolve(wanted)
    const isAlias = entry?.aliases.some((alias) => alias.toLowerCase() === wanted.toLowerCase()) ?? false
    if (entry && (!isAlias || this.table.isNamed(entry.provider))) return entry
    const listed = this.#discovered?.listedAs(wanted) ?? []
    const [only] = listed.length === 1 ? listed : listed.filter(({ provider }) => provider === entry?.provider)
    const isUsable = entry && this.needOf(entry.provider) === null && this.#problemWith(entry) === null
    if (only && (!isUsable || only.provider === entry.provider)) return only
    if (entry) return entry
    const near = (listed.length > 0 ? listed.map((each) => each.name) : this.table.similar(wanted)).join(" or ")
    throw failure("unknown_model", {
      name: wanted.slice(0, 100),
      choices: this.#usableNames(),
      ...(near ? { near } : {}),
    })
  }

  /** The same after asking the local model servers that it may depend on. Throws `unknown_model`. */
  async #resolveListed(name: string): Promise<ModelEntry> {
    const entry = this.table.resolve(name.trim())
    const localProviders = !entry ? this.table.names.filter(isLocal) : isPreset(entry) ? [entry.provider] : []
    if (localProviders.length > 0)
      await this.#discovered?.firstListsOf(localProviders, (answers) => this.#waitFor(answers))
    return this.resolve(name)
  }

  /**
   * The default model: the operator's, or else the best of the usable providers, or else the offline one if no provider
   * is configured. Throws `no_model_selected` if providers are configured and none is usable.
   */
  async defaultName(): Promise<string> {
    const { defaultModel: wanted } = this.#settings
    if (wanted) return (await this.#resolveListed(wanted)).name
    if (this.#defaultName !== undefined) return this.#defaultName
    const usable = byPreference(this.#usableProviders())
    if (usable.length === 0) return OFFLINE
    const unlisted: string[] = []
    for (const { name } of usable) {
      const named = this.table.isNamed(name) ? this.table.models.find(({ provider }) => provider === name) : undefined
      const listed = named ? "unlisted" : await this.#listedBy(name)
      const isUnknown = listed === "silent" || listed === "unreadable"
      if (listed === "unreadable" || (listed === "silent" && !isLocal(name))) unlisted.push(name)
      const best = named?.name ?? (Array.isArray(listed) ? bestListed(listed) : bestKnown(name))
      if (best === undefined || isUnknown) continue
      // It stays the same while the process runs, so that a conversation without a choice does not change its model.
      return (this.#defaultName = best)
    }
    // These probably have their usual models although their list was unreadable; their own error will explain it.
    const known = unlisted.flatMap((name) => bestKnown(name) ?? [])[0]
    if (known) return known
    const choices = someOf(usable.map(({ name }) => `${name}/<model>${this.#problemText(name)}`))
    throw failure("no_model_selected", { choices, setting: this.#options.defaultSetting })
  }

  /** The model of this name, or the default one. Throws `unknown_model`, `not_configured` or `no_model_selected`. */
  async get(name: string | null): Promise<Model> {
    const resolved = await this.#resolveListed(name ?? (await this.defaultName()))
    const entry = (await this.#discovered?.completed(resolved)) ?? resolved
    // The facts may have changed since it was created; a run continues with the old one.
    const facts = JSON.stringify([entry.contextTokens, entry.price, entry.features])
    const findCurrent = () => {
      const known = this.#models.get(entry.name)
      return known?.facts === facts ? known.model : undefined
    }
    const model = findCurrent() ?? (await this.#create(entry))
    // A concurrent call may have created it; both return the same one.
    const known = findCurrent() ?? model
    this.#models.set(entry.name, { model: known, facts })
    return known
  }

  async #create(entry: ModelEntry): Promise<Model> {
    const { offline, clock = systemClock, retry, secrets = [] } = this.#options
    if (entry.provider === OFFLINE && offline) return offline()
    const connection = connectTo(entry.provider, this.#settings)
    const need = this.needOf(entry.provider) ?? this.#problemWith(entry)
    if ("need" in connection || need !== null) {
      throw failure("not_configured", { model: entry.name, need: need ?? "" })
    }
    const { fetch, isOwn } = this.#fetchFor(entry.provider)
    // Loaded on first use: a start without a provider model does not need it.
    const [{ ProviderModel }, { watchedFetch }] = await Promise.all([
      import("./providers/provider-model.ts"),
      import("./providers/stream/watched-fetch.ts"),
    ])
    const { idleSeconds } = this.#settings
    const { dialect, marksCache } = { ...connection, ...connection.ofModel?.(entry.id) }
    return new ProviderModel({
      name: entry.name,
      provider: entry.provider,
      label: this.table.labelOf(entry.provider),
      contextTokens: entry.contextTokens,
      sees: { images: entry.features.includes("images"), files: entry.features.includes("files") },
      price: connection.listPrice ? entry.price : null,
      // Only if its endpoint reports it: an assumption is no reason to refuse tools.
      ...(entry.sources.tools === "endpoint" && !entry.features.includes("tools")
        ? { takesTools: false as const }
        : {}),
      paidBy: isOwn ? "own" : "shared",
      // Operators must not see what a person calls their endpoint.
      ...(isOwn && this.table.isNamed(entry.provider) ? { countedAs: "own" } : {}),
      load: () => connection.open(entry.id, watchedFetch(fetch, { inFrames: connection.inFrames })),
      providerOptions: connection.providerOptions,
      dialect,
      reasons: entry.sources.reasoning === "assumed" ? undefined : entry.features.includes("reasoning"),
      quirks: connection.quirks,
      ...(marksCache ? { marksCache } : {}),
      secrets: [...providerSecrets(this.#settings), ...secrets],
      clock,
      idleMs: idleSeconds === undefined ? undefined : idleSeconds * 1000,
      retry,
    })
  }

  /** The missing setting of a provider; null if it is usable. */
  needOf(provider: string): string | null {
    if (provider === OFFLINE) return this.#options.offline ? null : "only the pawl command has it"
    const connection = connectTo(provider, this.#settings)
    if (!("need" in connection)) return null
    return this.#options.needOf?.(provider, connection.need) ?? connection.need
  }

  /** The `fetch` for a provider, and whether the access is a person's own. */
  #fetchFor(provider: string) {
    const access = this.#options.accessTo?.(provider)
    const fetch: typeof globalThis.fetch | undefined = access?.fetch ?? this.#options.fetch
    return { fetch, isOwn: access !== undefined, isPersonal: access?.fetch !== undefined }
  }

  /** How to request a provider's model list, if it is reachable and has one. */
  #accessTo(provider: string): ListedEndpoint | undefined {
    const connection = connectTo(provider, this.#settings)
    if ("need" in connection || !connection.listing) return undefined
    const { fetch = globalThis.fetch, isOwn, isPersonal } = this.#fetchFor(provider)
    return { listing: connection.listing, fetch, isOwn, isPersonal }
  }

  #listPriceAt(provider: string): boolean {
    const connection = connectTo(provider, this.#settings)
    // If a provider is not usable yet, its usual prices are shown.
    return "need" in connection || connection.listPrice
  }

  async #listedBy(provider: string) {
    return this.#discovered?.listedBy(provider, (answer) => this.#waitFor(answer)) ?? "unlisted"
  }

  async #waitFor(answer: Promise<unknown>): Promise<void> {
    const woken = new AbortController()
    await Promise.race([answer, sleep(this.#options.clock ?? systemClock, MAX_WAIT_MS, woken.signal)])
    woken.abort()
  }

  /** Why a preset of a local model server cannot be used although the server can be reached: the server does not list it. */
  #problemWith(entry: ModelName): string | null {
    const listed = isPreset(entry) ? this.#discovered?.listedInsteadOf(entry) : undefined
    if (!listed) return null
    const lacks = `${this.table.labelOf(entry.provider)} does not have it`
    return listed.length > 0 ? `${lacks}, but it has ${someOf(listed)}` : `${lacks}: load it there first`
  }

  /** The usable models, for error messages. */
  #usableNames(): string {
    const models = this.list().flatMap(({ name, available }) => (available ? [name] : []))
    return [someOf(models, MAX_KNOWN), ...this.#usableProviders().map(({ name }) => `${name}/<model>`)].join(", ")
  }

  /** Whether any provider can be used. */
  hasProvider(): boolean {
    return this.#usableProviders().length > 0
  }

  #problemText(provider: string): string {
    const problem = this.#discovered?.problemOf(provider)
    return problem === undefined ? "" : ` (${problem})`
  }

  #usableProviders(): UsableProvider[] {
    return this.table.names.flatMap((name) => {
      const connection = connectTo(name, this.#settings)
      if ("need" in connection || this.needOf(name) !== null) return []
      return { name, isOwn: this.#options.accessTo?.(name) !== undefined }
    })
  }
}
