import { type Clock, systemClock } from "../agent/clock.ts"
import type { Model } from "../agent/model.ts"
import type { Interpreter, ToolPhrases } from "../agent/definition/phrases.ts"
import type { ModelSource } from "../agent/ports.ts"
import { failure } from "../protocol/errors.ts"
import { catalogue, FREE, type ModelEntry } from "./providers/model-catalogue.ts"
import { defaultModel } from "./default-model.ts"
import { offlineModel } from "./offline/model.ts"
import { type ProviderName, providers } from "./providers/list.ts"
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
  accessTo?(provider: ProviderName): Access | undefined
  /** What to tell a person who lacks something. */
  needOf?(provider: ProviderName, need: string): string
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
  #defaultName: string | undefined

  constructor(settings: ModelSettings, options: RegistryOptions = {}) {
    this.#settings = withoutBlanks(settings)
    this.#options = options
  }

  /** Every model of the catalogue, with whether it can be used. */
  list(): RegisteredModel[] {
    return catalogue.map((entry) => {
      const need = this.needOf(entry.provider)
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
    const { label } = providers[entry.provider]
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
      label,
      contextTokens: entry.contextTokens,
      price: connection.listPrice ? entry.price : null,
      paidBy: accessTo?.(entry.provider)?.own ? "own" : "shared",
      load: () => connection.open(entry.id, watchedFetch(fetch)),
      providerOptions: connection.providerOptions,
      secrets: [...providerSecrets(this.#settings), ...secrets],
      clock,
      idleMs: idleSeconds === undefined ? undefined : idleSeconds * 1000,
      retry,
    })
  }

  /** What is missing for a provider's models; null where they can be used. */
  needOf(provider: ProviderName): string | null {
    if (provider === "offline") return null
    const connection = connectTo(provider, this.#settings)
    if (!("need" in connection)) return null
    return this.#options.needOf?.(provider, connection.need) ?? connection.need
  }

  /** What can be chosen. Ollama's models are whatever somebody pulled, so none of them is in the catalogue. */
  #choices(): string[] {
    const listed = this.list().flatMap((model) => (model.available ? [model.name] : []))
    return this.needOf("ollama") === null ? [...listed, "ollama/<model>"] : listed
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
  const { contextTokens, apiKey } = providers[owner]
  // What wants no key is a machine of somebody's own.
  const price = apiKey ? null : FREE
  return { name: `${owner}/${id}`, provider: owner, id, aliases: [], features: ["tools"], contextTokens, price }
}
