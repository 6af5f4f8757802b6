import { type Clock, sleep, systemClock } from "../agent/clock.ts"
import type { Model, Price } from "../agent/model.ts"
import type { Interpreter, ToolPhrases } from "../agent/definition/phrases.ts"
import type { ModelSource } from "../agent/ports.ts"
import { failure } from "../protocol/errors.ts"
import { type ModelAbilities, type ModelEndpoint, toAbilities } from "../protocol/models/model-facts.ts"
import { defaultModel } from "./default-model.ts"
import { DiscoveredModels, type ListedEndpoint, type ListsOptions } from "./discovered-models.ts"
import type { ModelEntry } from "./providers/model-catalogue.ts"
import type { ProbedProvider } from "./discovery/probe.ts"
import { offlineModel } from "./offline/model.ts"
import { type ProviderTable, providerTable } from "./providers/provider-table.ts"
import type { RetryPolicy } from "./providers/errors/retry.ts"
import { connectTo, type ModelSettings, providerSecrets, withoutBlanks } from "./providers/settings.ts"

export interface RegistryOptions {
  /** What the offline model understands. */
  readonly phrasesOf?: () => readonly ToolPhrases[]
  readonly interpretersOf?: () => readonly Interpreter[]
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
}

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
    const entries = this.#discovered?.all() ?? this.table.models
    const shared = new Map(
      this.table.names.map((name) => [name, { need: this.needOf(name), listPrice: this.#listPriceAt(name) }]),
    )
    return entries.map(({ price, sources, ...entry }) => {
      const { need = null, listPrice = true } = shared.get(entry.provider) ?? {}
      const { price: from, ...others } = sources
      const priced = price && listPrice && from ? { price, sources: { ...others, price: from } } : { sources: others }
      return { ...entry, ...priced, can: toAbilities(entry.features), available: need === null, need }
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

  /** What a name or an alias stands for, available or not. Throws `unknown_model`. */
  resolve(name: string): ModelEntry {
    const wanted = name.trim()
    const entry = this.table.resolve(wanted)
    if (!entry) throw failure("unknown_model", { name: wanted.slice(0, 100), choices: this.table.knownNames })
    return entry
  }

  /** The name of the model of a conversation that chose none. Throws `no_model_selected`. */
  defaultName(): string {
    const { defaultModel: wanted } = this.#settings
    this.#defaultName ??= this.resolve(defaultModel(wanted, this.#choices(), this.#options.defaultSetting)).name
    return this.#defaultName
  }

  /** The model of this name, or the default one. Throws `unknown_model`, `not_configured` or `no_model_selected`. */
  async get(name: string | null): Promise<Model> {
    const resolved = this.resolve(name ?? this.defaultName())
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
    const { phrasesOf = () => [], interpretersOf, clock = systemClock, retry, secrets = [] } = this.#options
    if (entry.provider === "offline") return offlineModel(phrasesOf, interpretersOf)
    const connection = connectTo(entry.provider, this.#settings)
    const need = this.needOf(entry.provider)
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
      load: () => connection.open(entry.id, watchedFetch(fetch)),
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
    if (provider === "offline") return null
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

  /** What can be chosen. Of most providers no model is in the catalogue: those of Ollama are whatever somebody pulled. */
  #choices(): string[] {
    const listed = this.list().flatMap((model) => (model.available ? [model.name] : []))
    const open = this.table.unlisted.filter((provider) => {
      const connection = connectTo(provider, this.#settings)
      return "open" in connection && !connection.isFound
    })
    return [...listed, ...open.map((provider) => `${provider}/<model>`)]
  }
}
