import { type Clock, systemClock } from "../agent/clock.ts"
import type { Model } from "../agent/model.ts"
import type { Interpreter, ToolPhrases } from "../agent/definition/phrases.ts"
import type { ModelSource } from "../agent/ports.ts"
import { failure } from "../protocol/errors.ts"
import type { ModelEntry } from "./providers/model-catalogue.ts"
import { defaultModel } from "./default-model.ts"
import { offlineModel } from "./offline/model.ts"
import { type ProviderTable, providerTable } from "./providers/provider-table.ts"
import type { RetryPolicy } from "./providers/retry.ts"
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
  /** How one provider is reached, where it is not as the others are. */
  accessTo?(provider: string): Access | undefined
  /** What to tell a person who lacks something. */
  needOf?(provider: string, need: string): string
}

export interface Access {
  /** The person's own means, which are no business of the operator's budget. */
  readonly own: true
  readonly fetch?: typeof globalThis.fetch
}

/** A model as a list shows it. */
export interface RegisteredModel extends ModelEntry {
  readonly available: boolean
  /** What to set to make it available. */
  readonly need: string | null
}

/** The models of one set of settings: the server's own, or those of a person who brought keys. Cheap to make. */
export class ModelRegistry implements ModelSource {
  readonly #settings: ModelSettings
  readonly #options: RegistryOptions
  readonly #models = new Map<string, Model>()
  /** Which providers and models there are, available or not. */
  readonly table: ProviderTable
  #defaultName: string | undefined

  constructor(settings: ModelSettings, options: RegistryOptions = {}) {
    this.#settings = withoutBlanks(settings)
    this.table = providerTable(this.#settings)
    this.#options = options
  }

  /** Every model that we know by name, with whether it can be used. */
  list(): RegisteredModel[] {
    return this.table.models.map((entry) => {
      const need = this.needOf(entry.provider)
      return { ...entry, available: need === null, need }
    })
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
    this.#defaultName ??= this.resolve(defaultModel(this.#settings.defaultModel, this.#choices())).name
    return this.#defaultName
  }

  /** The model of this name, or the default one. Throws `unknown_model`, `not_configured` or `no_model_selected`. */
  async get(name: string | null): Promise<Model> {
    const entry = this.resolve(name ?? this.defaultName())
    const model = this.#models.get(entry.name) ?? (await this.#create(entry))
    // Somebody else may have asked for it in the meantime; both get the same one.
    const known = this.#models.get(entry.name) ?? model
    this.#models.set(entry.name, known)
    return known
  }

  async #create(entry: ModelEntry): Promise<Model> {
    const { phrasesOf = () => [], interpretersOf, clock = systemClock, retry, secrets = [], accessTo } = this.#options
    if (entry.provider === "offline") return offlineModel(phrasesOf, interpretersOf)
    const connection = connectTo(entry.provider, this.#settings)
    const need = this.needOf(entry.provider)
    if ("need" in connection || need !== null) {
      throw failure("not_configured", { model: entry.name, need: need ?? "" })
    }
    const fetch = accessTo?.(entry.provider)?.fetch ?? this.#options.fetch
    // Loaded here and not above: a start without a provider model does not pay for it.
    const [{ ProviderModel }, { watchedFetch }] = await Promise.all([
      import("./providers/model.ts"),
      import("./providers/watched-fetch.ts"),
    ])
    const { idleSeconds } = this.#settings
    return new ProviderModel({
      name: entry.name,
      provider: entry.provider,
      label: this.table.labelOf(entry.provider),
      contextTokens: entry.contextTokens,
      price: connection.listPrice ? entry.price : null,
      paidBy: accessTo?.(entry.provider)?.own ? "own" : "shared",
      load: () => connection.open(entry.id, watchedFetch(fetch)),
      providerOptions: connection.providerOptions,
      quirks: connection.quirks,
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
