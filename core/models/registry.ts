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
import { DiscoveredModels, type ListedEndpoint, type ListsOptions } from "./discovered-models.ts"
import { own } from "../shared/text/json.ts"
import { type Provider, providers } from "./providers/list.ts"
import { catalogue, type ModelEntry } from "./providers/model-catalogue.ts"
import type { ProbedProvider } from "./discovery/probe.ts"
import { type ProviderTable, providerTable } from "./providers/provider-table.ts"
import type { RetryPolicy } from "./providers/errors/retry.ts"
import { connectTo, type ModelSettings, providerSecrets, withoutBlanks } from "./providers/settings.ts"

export interface RegistryOptions {
  /** Opens the model that answers if no provider is configured. Without it, there is none. */
  readonly offline?: (() => Promise<Model>) | undefined
  readonly clock?: Clock
  /** For outgoing requests; whoever lets people bring their own addresses passes one that judges them. */
  readonly fetch?: typeof globalThis.fetch
  readonly retry?: Omit<RetryPolicy, "clock">
  /** More that must never be in an error. */
  readonly secrets?: readonly string[]
  /** What endpoints say of their models; without, nobody asks them. */
  readonly lists?: ListsOptions
  /** How one provider is reached, where it is not as the others are. */
  accessTo?(provider: string): Access | undefined
  /** What to tell a person who lacks something. */
  needOf?(provider: string, need: string): string
  /** Where the model of those who chose none is named, if not in `PAWL_MODEL`. */
  readonly defaultSetting?: string
}

export interface Access {
  /** The person's own means, which are no business of the operator's budget. */
  readonly own: true
  /** The way to an address that they have given. */
  readonly fetch?: typeof globalThis.fetch
}

/** A model as a list shows it. */
export interface RegisteredModel extends Omit<ModelEntry, "price"> {
  readonly available: boolean
  /** What to set to make it available. */
  readonly need: string | null
  readonly can: ModelAbilities
  readonly price?: Price
}

/** How somebody looks at the list. */
export interface ListLook {
  /** Endpoints are asked again, however lately they have answered. */
  readonly refresh?: boolean
  /** How long to wait for those that are being asked. */
  readonly waitMs?: number
}

export interface Looked {
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

/** Whether this is a model server of one's own, which has only the models that were loaded into it. */
const isLocal = (provider: string): boolean => own<Provider>(providers, provider)?.wants === "address"

type ModelName = Pick<ModelEntry, "name" | "provider" | "id">

/** A model of the catalogue that a local model server may have or not. */
const isPreset = ({ provider, name }: ModelName): boolean =>
  isLocal(provider) && catalogue.some((entry) => entry.name === name)

interface Made {
  readonly model: Model
  /** What it was made from. */
  readonly facts: string
}

/** The models of one set of settings: the server's own, or those of a person who brought keys. Cheap to make. */
export class ModelRegistry implements ModelSource {
  readonly #settings: ModelSettings
  readonly #options: RegistryOptions
  readonly #models = new Map<string, Made>()
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

  /** Every model that we know by name or an endpoint has told of, with whether it can be used. Asks nobody. */
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
      const lack = need ?? this.#lackOf(entry)
      return { ...entry, ...priced, can: toAbilities(entry.features), available: lack === null, need: lack }
    })
  }

  /** The same for somebody who looks: endpoints whose last answer is old are asked, in the background or while they wait. */
  async look({ refresh = false, waitMs = 0 }: ListLook = {}): Promise<Looked> {
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

  /** Whether those are reached, and take their keys, that are set up and asked for no list. It costs nothing. */
  async probe(signal: AbortSignal): Promise<ProbedProvider[]> {
    const { probe } = await import("./discovery/probe.ts")
    const asked = this.table.names.map(async (provider): Promise<ProbedProvider | undefined> => {
      const connection = connectTo(provider, this.#settings)
      if ("need" in connection || connection.listing) return undefined
      if (!connection.probe) return { provider, outcome: "unasked" }
      const { fetch = globalThis.fetch } = this.#waysTo(provider)
      return { provider, ...(await probe(connection.probe, fetch, signal)) }
    })
    return (await Promise.all(asked)).filter((probed) => probed !== undefined)
  }

  /**
   * What a name or an alias stands for, available or not. A name that an endpoint lists comes before an alias of a model
   * that cannot be used, or that the same endpoint serves. Asks no endpoint. Throws `unknown_model`.
   */
  resolve(name: string): ModelEntry {
    const wanted = name.trim()
    const entry = this.table.resolve(wanted)
    const isAlias = entry?.aliases.some((alias) => alias.toLowerCase() === wanted.toLowerCase()) ?? false
    if (entry && (!isAlias || this.table.isNamed(entry.provider))) return entry
    const listed = this.#discovered?.listedAs(wanted) ?? []
    const [only] = listed.length === 1 ? listed : listed.filter(({ provider }) => provider === entry?.provider)
    const isUsable = entry && this.needOf(entry.provider) === null && this.#lackOf(entry) === null
    if (only && (!isUsable || only.provider === entry.provider)) return only
    if (entry) return entry
    const near = (listed.length > 0 ? listed.map((each) => each.name) : this.table.near(wanted)).join(" or ")
    throw failure("unknown_model", {
      name: wanted.slice(0, 100),
      choices: this.#usableNames(),
      ...(near ? { near } : {}),
    })
  }

  /** The same, once the local model servers that it may depend on have been asked for their lists. Throws `unknown_model`. */
  async #resolveListed(name: string): Promise<ModelEntry> {
    const entry = this.table.resolve(name.trim())
    const asked = !entry ? this.table.names.filter(isLocal) : isPreset(entry) ? [entry.provider] : []
    if (asked.length > 0) await this.#discovered?.firstListsOf(asked, (answers) => this.#waitFor(answers))
    return this.resolve(name)
  }

  /**
   * The name of the model of a conversation that chose none: the operator's, else the best of the usable
   * providers, else the offline one if no provider is configured. Throws `no_model_selected` if providers are configured
   * and none of them can be used.
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
      // It stays the same while the process runs: a conversation that chose none must not change its model at will.
      return (this.#defaultName = best)
    }
    // These probably have their usual models although their list could not be read; their own error says what is wrong.
    const known = unlisted.flatMap((name) => bestKnown(name) ?? [])[0]
    if (known) return known
    const choices = someOf(usable.map(({ name }) => `${name}/<model>${this.#whyNot(name)}`))
    throw failure("no_model_selected", { choices, setting: this.#options.defaultSetting })
  }

  /** The model of this name, or the default one. Throws `unknown_model`, `not_configured` or `no_model_selected`. */
  async get(name: string | null): Promise<Model> {
    const resolved = await this.#resolveListed(name ?? (await this.defaultName()))
    const entry = (await this.#discovered?.toldOf(resolved)) ?? resolved
    // What its endpoint says may have become something else since it was made: a run that has the old one keeps it.
    const facts = JSON.stringify([entry.contextTokens, entry.price, entry.features])
    const made = () => {
      const known = this.#models.get(entry.name)
      return known?.facts === facts ? known.model : undefined
    }
    const model = made() ?? (await this.#create(entry))
    // Somebody else may have asked for it in the meantime; both get the same one.
    const known = made() ?? model
    this.#models.set(entry.name, { model: known, facts })
    return known
  }

  async #create(entry: ModelEntry): Promise<Model> {
    const { offline, clock = systemClock, retry, secrets = [] } = this.#options
    if (entry.provider === OFFLINE && offline) return offline()
    const connection = connectTo(entry.provider, this.#settings)
    const need = this.needOf(entry.provider) ?? this.#lackOf(entry)
    if ("need" in connection || need !== null) {
      throw failure("not_configured", { model: entry.name, need: need ?? "" })
    }
    const { fetch, isOwn } = this.#waysTo(entry.provider)
    // Loaded here and not above: a start without a provider model does not pay for it.
    const [{ ProviderModel }, { watchedFetch }] = await Promise.all([
      import("./providers/model.ts"),
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
      // Only where its endpoint says so: what is assumed is no reason to refuse it.
      ...(entry.sources.tools === "endpoint" && !entry.features.includes("tools")
        ? { takesTools: false as const }
        : {}),
      paidBy: isOwn ? "own" : "shared",
      // What a person calls an endpoint of theirs is for nobody else to read.
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

  /** What is missing for a provider's models; null where they can be used. */
  needOf(provider: string): string | null {
    if (provider === OFFLINE) return this.#options.offline ? null : "only the pawl command has it"
    const connection = connectTo(provider, this.#settings)
    if (!("need" in connection)) return null
    return this.#options.needOf?.(provider, connection.need) ?? connection.need
  }

  /** Which way its requests go, and whether they are a person's own business. */
  #waysTo(provider: string) {
    const access = this.#options.accessTo?.(provider)
    const fetch: typeof globalThis.fetch | undefined = access?.fetch ?? this.#options.fetch
    return { fetch, isOwn: access !== undefined, isPersonal: access?.fetch !== undefined }
  }

  /** How its endpoint is asked for its models, where it can be reached and lists them. */
  #accessTo(provider: string): ListedEndpoint | undefined {
    const connection = connectTo(provider, this.#settings)
    if ("need" in connection || !connection.listing) return undefined
    const { fetch = globalThis.fetch, isOwn, isPersonal } = this.#waysTo(provider)
    return { listing: connection.listing, fetch, isOwn, isPersonal }
  }

  #listPriceAt(provider: string): boolean {
    const connection = connectTo(provider, this.#settings)
    // Of what cannot be reached yet it is told what it usually costs.
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
  #lackOf(entry: ModelName): string | null {
    const listed = isPreset(entry) ? this.#discovered?.listedInsteadOf(entry) : undefined
    if (!listed) return null
    const lacks = `${this.table.labelOf(entry.provider)} does not have it`
    return listed.length > 0 ? `${lacks}, but it has ${someOf(listed)}` : `${lacks}: load it there first`
  }

  /** What can be asked for now, in words. */
  #usableNames(): string {
    const models = this.list().flatMap(({ name, available }) => (available ? [name] : []))
    return [someOf(models, MAX_KNOWN), ...this.#usableProviders().map(({ name }) => `${name}/<model>`)].join(", ")
  }

  /** Whether any provider can be used. */
  hasProvider(): boolean {
    return this.#usableProviders().length > 0
  }

  #whyNot(provider: string): string {
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
