import { systemClock } from "../shared/time/clock.ts"
import type { Model } from "../engine/model.ts"
import type { ModelSource } from "../engine/ports.ts"
import type { LocalModelServer } from "../protocol/models/providers.ts"
import type { UserId } from "../protocol/ids.ts"
import { own } from "../shared/text/json.ts"
import type { LocalModelServers } from "./discovery/local-servers.ts"
import { EndpointLists } from "./discovery/endpoint-lists.ts"
import { guardedFetch } from "./network/guarded-fetch.ts"
import { type OwnAccess, ownEndpoints } from "./own-endpoint.ts"
import { type Means, meansOf, type Provider, providers } from "./providers/list.ts"
import type { OutboundPolicy } from "./network/outbound-policy.ts"
import type { RecentSecrets } from "./providers/errors/recent-secrets.ts"
import {
  type Access,
  type ListLook,
  type Looked,
  type RegisteredModel,
  ModelRegistry,
  type RegistryOptions,
} from "./registry.ts"
import { type ModelSettings, providerSecrets, secretsIn } from "./providers/settings.ts"

/** What people have stored, still closed; `version` changes with it. */
export interface StoredKeys {
  read(user: UserId): Promise<{
    readonly version: string
    open(): Promise<ReadonlyMap<string, OwnAccess | "unreadable">>
  }>
}

export interface PersonalOptions extends RegistryOptions {
  readonly keys: StoredKeys
  /** Whether the operator's keys serve those who have none of their own. */
  readonly sharedKeys: boolean
  /** Where people's own addresses may lead. */
  readonly reach: OutboundPolicy
  /** Whether only this machine reaches the server: then what its operator has connected on this machine answers. */
  readonly isOnlyLocal?: boolean
  /** Addresses of this machine at which model servers are looked for while no provider can be used. */
  readonly localServers?: readonly string[]
  /** Told every key that is used, for whoever writes logs. */
  readonly secrets?: never
  readonly recent?: RecentSecrets
  readonly lists?: never
  /** A ceiling holds on what shared keys may cost. */
  readonly needsPrices?: boolean
}

/** How many people's models are kept ready. */
const MAX_PEOPLE = 500
/** Of a private key so many lines are hidden: one of 4096 bits has 51. */
const MAX_LINES = 60

interface Ready {
  /** What no log may hold. */
  readonly secrets: readonly string[]
  readonly version: string
  readonly registry: ModelRegistry
}

/**
 * The models as each person may use them: with their own keys first, with the operator's where they have none. What they
 * have stored is looked up with every call, so that a change holds from the next one on, and opened when it has changed.
 */
export class PersonalModels implements ModelSource, Disposable {
  /** For people who brought nothing. */
  readonly shared: ModelRegistry
  readonly #settings: ModelSettings
  readonly #options: PersonalOptions
  readonly #guarded: typeof globalThis.fetch
  readonly #guardedOnThisMachine: typeof globalThis.fetch
  readonly #ready = new Map<UserId, Ready>()
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
    const lists = { kept: this.#lists, needsPrices: options.needsPrices ?? false }
    this.shared = new ModelRegistry(this.#settings, { ...options, lists, ...this.#needs(new Set()) })
  }

  async get(name: string | null, user: UserId): Promise<Model> {
    // The model of a fresh machine belongs to nobody: no need to ask the database whose it is.
    if (name !== null && this.shared.table.resolve(name.trim())?.provider === "offline") return this.shared.get(name)
    return (await this.of(user)).get(name)
  }

  async list(user: UserId): Promise<RegisteredModel[]> {
    return (await this.of(user)).list()
  }

  /** The list for somebody who looks at it: endpoints are asked with this person's means. */
  async look(user: UserId, look: ListLook): Promise<Looked> {
    const registry = await this.of(user)
    const [looked, localServers] = await Promise.all([registry.look(look), this.#findLocalServers(registry)])
    return { ...looked, ...(localServers.length > 0 ? { localServers } : {}) }
  }

  /** The model servers of this machine, for the commands of its operator. */
  async findLocalServers(): Promise<LocalModelServer[]> {
    const { localServers = [] } = this.#options
    if (localServers.length === 0 || this.#settings.defaultModel || this.shared.hasProvider()) return []
    return this.#detect(localServers)
  }

  async #findLocalServers(registry: ModelRegistry): Promise<LocalModelServer[]> {
    // People on other machines do not learn what runs on this one.
    if (!this.#options.isOnlyLocal || registry.hasProvider()) return []
    return this.findLocalServers()
  }

  async #detect(addresses: readonly string[]): Promise<LocalModelServer[]> {
    if (!this.#localServers) {
      // Loaded on demand: most servers have a provider.
      const { LocalModelServers } = await import("./discovery/local-servers.ts")
      this.#localServers ??= new LocalModelServers(addresses)
    }
    return this.#localServers.find()
  }

  /** Whose model this is; null where there is none of this name. */
  async providerOf(name: string, user: UserId): Promise<string | null> {
    return (await this.of(user)).table.resolve(name)?.provider ?? null
  }

  /** Endpoints that are being asked for their models are asked no longer. */
  [Symbol.dispose](): void {
    this.#lists[Symbol.dispose]()
  }

  async defaultName(user: UserId): Promise<string> {
    return (await this.of(user)).defaultName()
  }

  /** A person's registry. Those used last are kept, each for as long as what it was made from. */
  async of(user: UserId): Promise<ModelRegistry> {
    const { version, open } = await this.#options.keys.read(user)
    if (version === "") return this.shared
    const known = this.#ready.get(user)
    const ready = known?.version === version ? known : { version, ...this.#create(user, await open()) }
    this.#ready.delete(user)
    this.#ready.set(user, ready)
    this.#options.recent?.add(user, ready.secrets)
    const [oldest] = this.#ready.keys()
    if (this.#ready.size > MAX_PEOPLE && oldest !== undefined) this.#ready.delete(oldest)
    return ready.registry
  }

  #create(user: UserId, brought: ReadonlyMap<string, OwnAccess | "unreadable">): Omit<Ready, "version"> {
    const settings: Record<string, unknown> = { ...this.#settings }
    const access = new Map<string, Access>()
    const unreadable = new Set<string>()
    const used: string[] = []
    const endpoints = ownEndpoints(brought)
    const { endpoints: operators = [] } = this.#settings
    // Theirs comes first, also before one of this name that the operator, or a newer version of ours, has thought of since.
    const others = operators.filter(({ name }) => !brought.has(name))
    if (endpoints.length > 0 || others.length < operators.length) settings.endpoints = [...others, ...endpoints]
    for (const { name, secrets } of endpoints) {
      used.push(...secrets)
      access.set(name, { own: true, fetch: this.#fetchFor(brought.get(name)) })
    }
    for (const [provider, given] of brought) {
      if (access.has(provider)) continue
      const known = own<Provider>(providers, provider)
      if (!known) continue
      const means = meansOf(known)
      // All or none: the operator's key must never travel to an address that a person has given, nor theirs to ours.
      for (const { field } of Object.values(means)) delete settings[field]
      if (given === "unreadable") {
        unreadable.add(provider)
        continue
      }
      for (const [name, text] of Object.entries({ ...given.fields, ...given })) {
        const { field, isSecret } = own<Means>(means, name) ?? {}
        if (field === undefined || typeof text !== "string") continue
        settings[field] = text
        if (isSecret) used.push(...secretsIn(text).slice(0, MAX_LINES))
      }
      access.set(provider, given.baseUrl ? { own: true, fetch: this.#fetchFor(given) } : { own: true })
    }
    // Another name for every change of what is stored: nothing that an old address has said is taken for the new one's.
    const owner = String(++this.#owners)
    const registry = new ModelRegistry(settings as ModelSettings, {
      ...this.#options,
      lists: { kept: this.#lists, owner, person: user, needsPrices: this.#options.needsPrices ?? false },
      secrets: providerSecrets(this.#settings),
      accessTo: (provider) => access.get(provider),
      ...this.#needs(unreadable),
    })
    return { registry, secrets: used }
  }

  #fetchFor(given: OwnAccess | "unreadable" | undefined): typeof globalThis.fetch {
    const isHere = given !== undefined && given !== "unreadable" && given.onThisMachine === true
    return isHere ? this.#guardedOnThisMachine : this.#guarded
  }

  #needs(unreadable: ReadonlySet<string>): Pick<RegistryOptions, "needOf"> {
    return {
      needOf: (provider, need) => {
        const own = `PUT /api/providers/${provider}`
        if (unreadable.has(provider)) return `what you have stored cannot be opened any more; store it again: ${own}`
        if (this.#settings.endpoints?.some(({ name }) => name === provider)) return need
        return this.#options.sharedKeys ? `${need}, or store your own: ${own}` : `store your own: ${own}`
      },
    }
  }
}
