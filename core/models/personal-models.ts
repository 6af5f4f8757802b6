import { systemClock } from "../shared/time/clock.ts"
import type { Model } from "../engine/model.ts"
import type { ModelSource } from "../engine/ports.ts"
import type { LocalModelServer } from "../protocol/models/providers.ts"
import type { UserId } from "../protocol/ids.ts"
import { own } from "../shared/text/json.ts"
import type { LocalModelServers } from "./discovery/local-servers.ts"
import { EndpointLists } from "./discovery/endpoint-lists.ts"
import { guardedFetch } from "./network/guarded-fetch.ts"
import { type PersonalAccess, personalEndpoints } from "./personal-endpoint.ts"
import { type ProviderSetting, settingsOfProvider, type Provider, providers } from "./providers/list.ts"
import type { OutboundPolicy } from "./network/outbound-policy.ts"
import type { RecentSecrets } from "./providers/errors/recent-secrets.ts"
import {
  type Access,
  type ListReadOptions,
  type ListedModels,
  type RegisteredModel,
  ModelRegistry,
  type RegistryOptions,
} from "./registry.ts"
import { type ModelSettings, providerSecrets, secretsIn } from "./providers/settings.ts"

/** People's stored access, still encrypted; `version` changes with it. */
export interface StoredKeys {
  read(user: UserId): Promise<{
    readonly version: string
    open(): Promise<ReadonlyMap<string, PersonalAccess | "unreadable">>
  }>
}

export interface PersonalOptions extends RegistryOptions {
  readonly keys: StoredKeys
  /** Whether people without their own keys may use the operator's. */
  readonly sharedKeys: boolean
  /** Which addresses people's own endpoints may have. */
  readonly reach: OutboundPolicy
  /** Whether only this machine can reach the server: then local endpoints of its operator work. */
  readonly isOnlyLocal?: boolean
  /** Addresses of this machine to search for model servers while no provider is usable. */
  readonly localServers?: readonly string[]
  /** Collects all used keys, so that logs can hide them. */
  readonly secrets?: never
  readonly recent?: RecentSecrets
  readonly lists?: never
  /** A spending limit applies to shared keys. */
  readonly needsPrices?: boolean
}

/** Registries that are cached. */
const MAX_PEOPLE = 500
/** Lines of a private key to hide: one of 4096 bits has 51. */
const MAX_LINES = 60

interface CachedRegistry {
  /** Texts that no log may contain. */
  readonly secrets: readonly string[]
  readonly version: string
  readonly registry: ModelRegistry
}

const OWN_KEY = "enter your own key in the settings, under Models"

/**
 * The models as each person may use them: with their own keys first, and otherwise the operator's. The stored access is
 * looked up with every call, so that changes apply at once, and decrypted only after a change.
 */
export class PersonalModels implements ModelSource, Disposable {
  /** For people without their own access. */
  readonly shared: ModelRegistry
  readonly #settings: ModelSettings
  readonly #options: PersonalOptions
  readonly #guarded: typeof globalThis.fetch
  readonly #guardedOnThisMachine: typeof globalThis.fetch
  readonly #cached = new Map<UserId, CachedRegistry>()
  readonly #lists: EndpointLists
  #localServers: LocalModelServers | undefined
  #owners = 0

  constructor(settings: ModelSettings, options: PersonalOptions) {
    const { defaultModel, idleSeconds } = settings
    this.#settings = options.sharedKeys
      ? settings
      : { ...(defaultModel ? { defaultModel } : {}), ...(idleSeconds ? { idleSeconds } : {}) }
    this.#options = options
    this.#guarded = guardedFetch(options.reach)
    this.#guardedOnThisMachine = options.isOnlyLocal ? guardedFetch(options.reach.withThisMachine()) : this.#guarded
    this.#lists = new EndpointLists(options.clock ?? systemClock)
    const lists = { lists: this.#lists, needsPrices: options.needsPrices ?? false }
    this.shared = new ModelRegistry(this.#settings, { ...options, lists, ...this.#needs(new Set()) })
  }

  async get(name: string | null, user: UserId): Promise<Model> {
    // The offline model has no owner, so the database is not read.
    if (name !== null && this.shared.table.resolve(name.trim())?.provider === "offline") return this.shared.get(name)
    return (await this.of(user)).get(name)
  }

  async list(user: UserId): Promise<RegisteredModel[]> {
    return (await this.of(user)).list()
  }

  /** The list for a person: endpoints are asked with this person's credentials. */
  async look(user: UserId, look: ListReadOptions): Promise<ListedModels> {
    const registry = await this.of(user)
    const [list, localServers] = await Promise.all([registry.look(look), this.#findLocalServers(registry)])
    return { ...list, ...(localServers.length > 0 ? { localServers } : {}) }
  }

  /** Model servers on this machine, for the commands of its operator. */
  async findLocalServers(): Promise<LocalModelServer[]> {
    const { localServers = [] } = this.#options
    if (localServers.length === 0 || this.#settings.defaultModel || this.shared.hasProvider()) return []
    return this.#detect(localServers)
  }

  async #findLocalServers(registry: ModelRegistry): Promise<LocalModelServer[]> {
    // People on other machines must not learn what runs on this one.
    if (!this.#options.isOnlyLocal || registry.hasProvider()) return []
    return this.findLocalServers()
  }

  async #detect(addresses: readonly string[]): Promise<LocalModelServer[]> {
    if (!this.#localServers) {
      // Loaded on first use, because most servers have a provider.
      const { LocalModelServers } = await import("./discovery/local-servers.ts")
      this.#localServers ??= new LocalModelServers(addresses)
    }
    return this.#localServers.find()
  }

  /** The provider of a model; null if there is no model of this name. */
  async providerOf(name: string, user: UserId): Promise<string | null> {
    return (await this.of(user)).table.resolve(name)?.provider ?? null
  }

  /** Aborts requests for model lists. */
  [Symbol.dispose](): void {
    this.#lists[Symbol.dispose]()
  }

  async defaultName(user: UserId): Promise<string> {
    return (await this.of(user)).defaultName()
  }

  /** A person's registry. Recently used ones are cached until the stored access changes. */
  async of(user: UserId): Promise<ModelRegistry> {
    const { version, open } = await this.#options.keys.read(user)
    if (version === "") return this.shared
    const known = this.#cached.get(user)
    const cached = known?.version === version ? known : { version, ...this.#create(user, await open()) }
    this.#cached.delete(user)
    this.#cached.set(user, cached)
    this.#options.recent?.add(user, cached.secrets)
    const [oldest] = this.#cached.keys()
    if (this.#cached.size > MAX_PEOPLE && oldest !== undefined) this.#cached.delete(oldest)
    return cached.registry
  }

  #create(user: UserId, stored: ReadonlyMap<string, PersonalAccess | "unreadable">): Omit<CachedRegistry, "version"> {
    const settings: Record<string, unknown> = { ...this.#settings }
    const access = new Map<string, Access>()
    const unreadable = new Set<string>()
    const usedSecrets: string[] = []
    const endpoints = personalEndpoints(stored)
    const { endpoints: operators = [] } = this.#settings
    // A person's endpoints take precedence over those of the operator or a newer version with the same name.
    const others = operators.filter(({ name }) => !stored.has(name))
    if (endpoints.length > 0 || others.length < operators.length) settings.endpoints = [...others, ...endpoints]
    for (const { name, secrets } of endpoints) {
      usedSecrets.push(...secrets)
      access.set(name, { own: true, fetch: this.#fetchFor(stored.get(name)) })
    }
    for (const [provider, given] of stored) {
      if (access.has(provider)) continue
      const known = own<Provider>(providers, provider)
      if (!known) continue
      const fields = settingsOfProvider(known)
      // All fields or none: the operator's key must never be sent to a person's address, nor a person's key to the
      // operator's.
      for (const { field } of Object.values(fields)) delete settings[field]
      if (given === "unreadable") {
        unreadable.add(provider)
        continue
      }
      for (const [name, text] of Object.entries({ ...given.fields, ...given })) {
        const { field, isSecret } = own<ProviderSetting>(fields, name) ?? {}
        if (field === undefined || typeof text !== "string") continue
        settings[field] = text
        if (isSecret) usedSecrets.push(...secretsIn(text).slice(0, MAX_LINES))
      }
      access.set(provider, given.baseUrl ? { own: true, fetch: this.#fetchFor(given) } : { own: true })
    }
    // A new owner after every change, so that lists of an old address are not used for the new one.
    const owner = String(++this.#owners)
    const registry = new ModelRegistry(settings as ModelSettings, {
      ...this.#options,
      lists: { lists: this.#lists, owner, person: user, needsPrices: this.#options.needsPrices ?? false },
      secrets: providerSecrets(this.#settings),
      accessTo: (provider) => access.get(provider),
      ...this.#needs(unreadable),
    })
    return { registry, secrets: usedSecrets }
  }

  #fetchFor(given: PersonalAccess | "unreadable" | undefined): typeof globalThis.fetch {
    const isLocal = given !== undefined && given !== "unreadable" && given.onThisMachine === true
    return isLocal ? this.#guardedOnThisMachine : this.#guarded
  }

  #needs(unreadable: ReadonlySet<string>): Pick<RegistryOptions, "needOf"> {
    return {
      needOf: (provider, need) => {
        if (unreadable.has(provider))
          return "your stored key cannot be decrypted any more; enter it again in the settings, under Models"
        if (this.#settings.endpoints?.some(({ name }) => name === provider)) return need
        return this.#options.sharedKeys ? `${need}, or ${OWN_KEY}` : OWN_KEY
      },
    }
  }
}
