import { failure } from "../protocol/errors.ts"
import type { UserId } from "../protocol/ids.ts"
import type { NewAccess, ProviderView } from "../protocol/providers.ts"
import type { OwnAccess, PersonalModels, StoredKeys } from "./personal-models.ts"
import type { OutboundPolicy } from "./network/outbound-policy.ts"
import { type Provider, providers, type ReachableProvider } from "./providers/list.ts"

export interface KeyStore extends StoredKeys {
  put(user: UserId, provider: string, access: OwnAccess): Promise<void>
  remove(user: UserId, provider: string): Promise<void>
}

interface Needs {
  readonly models: PersonalModels
  readonly keys: KeyStore
  readonly reach: OutboundPolicy
}

/** What each person has brought for each provider. */
export class OwnProviders {
  readonly #needs: Needs

  constructor(needs: Needs) {
    this.#needs = needs
  }

  async list(user: UserId): Promise<ProviderView[]> {
    const { keys, models } = this.#needs
    const own = await (await keys.read(user)).open()
    const registry = await models.of(user)
    return registry.table.names.map((name) => {
      const need = registry.needOf(name)
      const operatorOnly = registry.table.isNamed(name) ? { operatorOnly: true as const } : {}
      const given = own.get(name)
      const source = given ? "own" : need === null ? "shared" : null
      const address = given && given !== "unreadable" && given.baseUrl ? { baseUrl: given.baseUrl } : {}
      return { name, configured: need === null, source, ...address, need, ...operatorOnly }
    })
  }

  async find(user: UserId, name: string): Promise<ProviderView> {
    const view = (await this.list(user)).find((each) => each.name === name)
    if (!view) throw failure("not_found")
    return view
  }

  async save(user: UserId, name: string, { apiKey, baseUrl }: NewAccess): Promise<void> {
    if (this.#needs.models.shared.table.isNamed(name)) throw failure("bad_request", { problem: operators(name) })
    const provider = toProvider(name)
    const access = { ...(apiKey ? { apiKey } : {}), ...(baseUrl ? { baseUrl } : {}) }
    const problem = problemWith(provider, access)
    if (problem) throw failure("bad_request", { problem })
    // Judged again at every connection; here so that whoever is wrong learns it now.
    if (baseUrl) await this.#needs.reach.check(new URL(baseUrl).hostname)
    await this.#needs.keys.put(user, provider, access)
  }

  async remove(user: UserId, name: string): Promise<void> {
    await this.#needs.keys.remove(user, toProvider(name))
  }
}

const names = Object.keys(providers) as ReachableProvider[]

function toProvider(name: string): ReachableProvider {
  const provider = names.find((each) => each === name)
  if (!provider) throw failure("not_found")
  return provider
}

/** Its headers may be what the operator pays with, so that nobody's key alone makes it theirs. */
function operators(name: string): string {
  return `Only whoever runs this server says how ${name} is reached. Store a key and an address of your own under openai or anthropic.`
}

function problemWith(provider: ReachableProvider, { apiKey, baseUrl }: OwnAccess): string | undefined {
  const { wants }: Provider = providers[provider]
  switch (wants) {
    case "key":
      return apiKey ? undefined : `apiKey: ${provider} needs one.`
    case "address":
      return baseUrl ? undefined : `baseUrl: say where your ${provider} is.`
    case "both":
      return apiKey && baseUrl ? undefined : `Send an apiKey and a baseUrl: ${provider} needs both.`
    case "either":
      return apiKey || baseUrl ? undefined : "Send an apiKey, a baseUrl or both."
  }
}
