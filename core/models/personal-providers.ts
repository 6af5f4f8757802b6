import { failure, hasCode } from "../protocol/errors.ts"
import { isThisMachine } from "../protocol/databases/connections.ts"
import type { UserId } from "../protocol/ids.ts"
import { own } from "../shared/text/json.ts"
import type { ChangedEndpoint, NewAccess, ProviderView } from "../protocol/models/providers.ts"
import type { PersonalModels, StoredKeys } from "./personal-models.ts"
import {
  changedEndpoint,
  endpointView,
  MAX_ENDPOINTS,
  MAX_LISTED,
  newEndpoint,
  personalEndpoints,
} from "./personal-endpoint.ts"
import { isEndpointName, isReserved, type PersonalAccess, problemWithEndpoint } from "./personal-endpoint.ts"
import type { OutboundPolicy } from "./network/outbound-policy.ts"
import { type Provider, providers, type ReachableProvider } from "./providers/list.ts"
import { accessTo } from "./providers/settings.ts"

export interface KeyStore extends StoredKeys {
  /** False if the limit `most` is exceeded, not counting the names in `besides`. */
  put(
    user: UserId,
    provider: string,
    access: PersonalAccess,
    limit?: { readonly most: number; readonly besides: readonly string[] },
  ): Promise<boolean>
  remove(user: UserId, provider: string): Promise<void>
}

interface ProviderOptions {
  readonly models: PersonalModels
  readonly keys: KeyStore
  readonly reach: OutboundPolicy
  /** Whether only this machine can reach the server: then its operator may connect local model servers. */
  readonly isOnlyLocal: boolean
}

/** Who stores the access. */
export interface StoredBy {
  readonly isAdmin: boolean
}

/** People's own access to providers. */
export class PersonalProviders {
  readonly #options: ProviderOptions

  constructor(options: ProviderOptions) {
    this.#options = options
  }

  async list(user: UserId): Promise<ProviderView[]> {
    const { keys, models } = this.#options
    const stored = await (await keys.read(user)).open()
    const registry = await models.of(user)
    const lost = [...stored.keys()].filter((name) => !registry.table.names.includes(name))
    const views = registry.table.names.map((name) => {
      const need = registry.needOf(name)
      const given = stored.get(name)
      const operatorOnly = !given && registry.table.isNamed(name) ? { operatorOnly: true as const } : {}
      const source = given ? "own" : need === null ? "shared" : null
      const access = given === "unreadable" ? undefined : given
      const address = access?.baseUrl ? { baseUrl: access.baseUrl } : {}
      const more = access?.endpoint ? endpointView(access) : fieldsOf(name, access)
      return { name, configured: need === null, source, ...address, ...more, need, ...operatorOnly } as const
    })
    return [...views, ...lost.map(unreadableView)]
  }

  async find(user: UserId, name: string): Promise<ProviderView> {
    const view = (await this.list(user)).find((each) => each.name === name)
    if (!view) throw failure("not_found")
    return view
  }

  async save(user: UserId, name: string, access: NewAccess, by: StoredBy): Promise<void> {
    if (access.kind) return this.#saveEndpoint(user, name, this.#withLocalMark(newEndpoint(access), by))
    const { apiKey, baseUrl, fields, ...ofEndpoint } = access
    if (this.#options.models.shared.table.isNamed(name))
      throw failure("bad_request", { problem: operatorOnlyText(name) })
    const provider = names.find((each) => each === name)
    if (!provider) {
      await this.find(user, name)
      throw failure("bad_request", { problem: KIND })
    }
    if (Object.values(ofEndpoint).some((each) => each !== undefined)) throw failure("bad_request", { problem: KIND })
    const given = {
      ...{ ...(apiKey ? { apiKey } : {}), ...(baseUrl ? { baseUrl } : {}) },
      ...(fields && Object.keys(fields).length > 0 ? { fields } : {}),
    }
    const problem = problemWith(provider, given)
    if (problem) throw failure("bad_request", { problem })
    await this.#put(user, name, this.#withLocalMark(given, by))
  }

  /** Throws `not_found` if it is not an endpoint of theirs. */
  async change(user: UserId, name: string, changed: ChangedEndpoint, by: StoredBy): Promise<void> {
    const stored = await (await this.#options.keys.read(user)).open()
    const given = stored.get(name)
    if (given === "unreadable") throw failure("bad_request", { problem: UNREADABLE })
    if (!given?.endpoint) throw failure("not_found")
    const next = changedEndpoint(given, changed)
    const stays = given.onThisMachine && next.baseUrl === given.baseUrl
    await this.#saveEndpoint(user, name, stays ? { ...next, onThisMachine: true } : this.#withLocalMark(next, by))
  }

  async remove(user: UserId, name: string): Promise<void> {
    await this.#options.keys.remove(user, name)
  }

  async #saveEndpoint(user: UserId, name: string, access: PersonalAccess): Promise<void> {
    const { models, keys } = this.#options
    if (!isEndpointName(name)) throw failure("not_found")
    const stored = await (await keys.read(user)).open()
    // An endpoint that they already have stays theirs, even if its name was taken since.
    const isTheirs = personalEndpoints(stored).some((each) => each.name === name)
    const isTaken = !isTheirs && (models.shared.table.isNamed(name) || isReserved(name))
    if (isTaken) throw failure("bad_request", { problem: `name: ${name} is taken on this server. Choose another.` })
    const problem = problemWithEndpoint(access)
    if (problem) throw failure("bad_request", { problem })
    const others = personalEndpoints(stored).filter((each) => each.name !== name)
    const listed = others.reduce((sum, each) => sum + each.models.length, access.endpoint?.models?.length ?? 0)
    if (listed > MAX_LISTED)
      throw failure("bad_request", { problem: `models: all your endpoints together list ${MAX_LISTED} at most.` })
    await this.#put(user, name, access, MAX_ENDPOINTS)
  }

  /** Marks a loopback address that an operator stores, if that is allowed. */
  #withLocalMark(access: PersonalAccess, { isAdmin }: StoredBy): PersonalAccess {
    const isLocal = access.baseUrl !== undefined && isThisMachine(new URL(access.baseUrl).hostname)
    return isLocal && isAdmin && this.#options.isOnlyLocal ? { ...access, onThisMachine: true } : access
  }

  /** Every connection is checked again; this check only reports the problem early. */
  async #checkAddress(name: string, access: PersonalAccess): Promise<void> {
    const { baseUrl, onThisMachine } = access
    if (!baseUrl) return
    const { hostname: host } = new URL(baseUrl)
    const reach = onThisMachine ? this.#options.reach.withThisMachine() : this.#options.reach
    await reach.check(host).catch((error: unknown) => {
      if (!hasCode(error, "host_not_allowed")) throw error
      throw failure("host_not_allowed", { host, variables: variablesFor(name, access) })
    })
  }

  async #put(user: UserId, name: string, access: PersonalAccess, most?: number): Promise<void> {
    await this.#checkAddress(name, access)
    const isStored = await this.#options.keys.put(user, name, access, most ? { most, besides: names } : undefined)
    if (!isStored)
      throw failure("bad_request", { problem: `You have ${most} endpoints, which is as many as there can be.` })
  }
}

/** The operator's settings that would connect what the person wants to reach. */
function variablesFor(name: string, { endpoint }: PersonalAccess): string {
  const provider = own<Provider>(providers, name)
  if (provider && !endpoint) return provider.baseUrl.variable
  if (endpoint?.kind === "anthropic") return `${providers.anthropic.baseUrl.variable} or PAWL_PROVIDERS`
  const { lmstudio, ollama, openai } = providers
  const known = [lmstudio, ollama, openai].map(({ baseUrl }) => baseUrl.variable)
  return `${known.join(", ")} or PAWL_PROVIDERS`
}

const names = Object.keys(providers) as ReachableProvider[]

const KIND =
  "kind: say what the endpoint speaks, openai or anthropic. It makes it one of your own, under a name of yours."
const UNREADABLE = "What you have stored cannot be opened any more. Store it again, or forget it."

/** A provider whose stored settings cannot be decrypted: only its name is known. */
const unreadableView = (name: string): ProviderView => ({
  name,
  configured: false,
  source: "own",
  need: UNREADABLE,
  lost: true,
})

/** The further fields of a provider, and those that the person has set. */
function fieldsOf(name: string, access: PersonalAccess | undefined): Pick<ProviderView, "fields"> {
  const { more } = own<Provider>(providers, name) ?? {}
  if (!more) return {}
  const fields = Object.entries(more).map(([field, { says, isSecret = false }]) => {
    const value = isSecret ? undefined : access?.fields?.[field]
    return { name: field, says, isSecret, ...(value === undefined ? {} : { value }) }
  })
  return { fields }
}

/** Its headers may contain the operator's credentials, so a person's key alone is not enough. */
function operatorOnlyText(name: string): string {
  return `Only the operator can set how ${name} is reached. Add your own key and address for openai or anthropic, or an endpoint of your own.`
}

function problemWith(name: ReachableProvider, { fields = {}, apiKey, baseUrl }: PersonalAccess): string | undefined {
  const provider: Provider = providers[name]
  const { wants, more = {} } = provider
  const unknown = Object.keys(fields).find((field) => !Object.hasOwn(more, field))
  if (unknown !== undefined) return `fields: ${name} takes ${Object.keys(more).join(", ") || "none"}.`
  const found = accessTo(provider, { ...fields, apiKey, baseUrl })
  if ("open" in found) return undefined
  const place = (means: string) => (Object.hasOwn(more, means) ? `fields.${means}` : means)
  if ("notAnAddress" in found) return "baseUrl: it must be an http address."
  if ("wrong" in found) return `${place(found.wrong)}: it must be ${found.mustBe}.`
  switch (wants) {
    case "key":
      return `apiKey: ${name} needs one.`
    case "address":
      return `baseUrl: enter the address of your ${name}.`
    case "both":
      return `Send an apiKey and a baseUrl: ${name} needs both.`
    case "either":
      return "Send an apiKey, a baseUrl or both."
    case "several":
      return `Send ${place(found.lacks)}${found.or ? `, or ${found.or.map(place).join(" and ")}` : ""}: ${name} needs it.`
  }
}
