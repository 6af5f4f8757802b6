import { type Clock, systemClock } from "../agent/clock.ts"
import type { Model } from "../agent/model.ts"
import type { Models } from "../agent/ports.ts"
import { failure } from "../protocol/errors.ts"
import { assumedContextTokens, catalogue, type ModelEntry } from "./catalogue.ts"
import { defaultModel } from "./default-model.ts"
import { offlineModel, type ToolPhrases } from "./offline.ts"
import { ProviderModel } from "./provider-model.ts"
import { type Connection, type ProviderName, providers } from "./providers.ts"
import type { RetryPolicy } from "./retry.ts"
import { type ModelSettings, withoutBlanks } from "./settings.ts"
import { watchedFetch } from "./watched-fetch.ts"

export interface RegistryOptions {
  /** What the offline model understands. */
  readonly phrasesOf?: () => readonly ToolPhrases[]
  readonly clock?: Clock
  /** For outgoing requests; whoever lets people bring their own addresses passes one that judges them. */
  readonly fetch?: typeof globalThis.fetch
  readonly retry?: Omit<RetryPolicy, "clock">
}

/** A model as a list shows it. */
export interface ListedModel extends ModelEntry {
  readonly available: boolean
  /** What to set to make it available. */
  readonly need: string | null
}

/** The models of one set of settings: the server's own, or those of a person who brought keys. Cheap to make. */
export class ModelRegistry implements Models {
  readonly #settings: ModelSettings
  readonly #options: RegistryOptions
  readonly #fetch: typeof globalThis.fetch
  readonly #models = new Map<string, Model>()

  constructor(settings: ModelSettings, options: RegistryOptions = {}) {
    this.#settings = withoutBlanks(settings)
    this.#options = options
    this.#fetch = watchedFetch(options.fetch)
  }

  /** Every model of the catalogue, with whether it can be used. */
  list(): ListedModel[] {
    return catalogue.map((entry) => {
      const connection = this.#connect(entry.provider)
      const need = connection && "need" in connection ? connection.need : null
      return { ...entry, available: need === null, need }
    })
  }

  /** What a name or an alias stands for, available or not. Throws `unknown_model`. */
  resolve(name: string): ModelEntry {
    const wanted = name.trim()
    const entry = byName.get(wanted.toLowerCase()) ?? passedThrough(wanted)
    if (!entry) throw failure("unknown_model", { name: wanted.slice(0, 100), choices: knownNames })
    return entry
  }

  /** The name of the model a conversation has that chose none. Throws `no_model_selected`. */
  defaultName(): string {
    const available = this.list().filter((model) => model.available)
    const wanted = this.#settings.defaultModel
    return this.resolve(defaultModel(wanted, [...available.map((model) => model.name), ...this.#unlisted()])).name
  }

  /** The model of this name, or the default one. Throws `unknown_model`, `not_configured` or `no_model_selected`. */
  async get(name: string | null): Promise<Model> {
    return this.model(name ?? this.defaultName())
  }

  /** As `get`, at once: the adapter behind it is loaded with its first request. */
  model(name: string): Model {
    const entry = this.resolve(name)
    const known = this.#models.get(entry.name)
    if (known) return known
    const model = this.#create(entry)
    this.#models.set(entry.name, model)
    return model
  }

  #create(entry: ModelEntry): Model {
    const { phrasesOf = () => [], clock = systemClock, retry } = this.#options
    if (entry.provider === "offline") return offlineModel(phrasesOf)
    const connection = this.#connect(entry.provider) as Connection | { need: string }
    if ("need" in connection) throw failure("not_configured", { model: entry.name, need: connection.need })
    const { idleSeconds } = this.#settings
    return new ProviderModel({
      name: entry.name,
      provider: entry.provider,
      label: providers[entry.provider].label,
      contextTokens: entry.contextTokens,
      load: () => connection.open(entry.id, this.#fetch),
      providerOptions: connection.providerOptions,
      secrets: connection.apiKey ? [connection.apiKey] : [],
      clock,
      idleMs: idleSeconds === undefined ? undefined : idleSeconds * 1000,
      retry,
    })
  }

  #connect(provider: ProviderName): Connection | { readonly need: string } | undefined {
    return provider === "offline" ? undefined : providers[provider].connect(this.#settings)
  }

  /** Providers that are configured but have no model in the catalogue; Ollama's are whatever somebody pulled. */
  #unlisted(): string[] {
    const connection = providers.ollama.connect(this.#settings)
    return "need" in connection ? [] : ["ollama/<model>"]
  }
}

const byName = new Map(
  catalogue.flatMap((entry) => [entry.name, ...entry.aliases].map((name) => [name.toLowerCase(), entry])),
)

const knownNames = [
  ...catalogue.map((entry) => entry.name),
  ...Object.keys(providers).map((provider) => `${provider}/<model>`),
].join(", ")

/** `openai/gpt-4o` and the like: any model of a provider, under the name its provider gives it. */
function passedThrough(name: string): ModelEntry | undefined {
  const slash = name.indexOf("/")
  const provider = name.slice(0, Math.max(slash, 0)).toLowerCase()
  const id = name.slice(slash + 1)
  if (!Object.hasOwn(providers, provider) || id === "") return undefined
  const owner = provider as keyof typeof providers
  const listed = catalogue.find((entry) => entry.provider === owner && entry.id === id)
  if (listed) return listed
  const contextTokens = assumedContextTokens[owner]
  return { name: `${owner}/${id}`, provider: owner, id, aliases: [], features: ["tools"], contextTokens, price: null }
}
