import { failure } from "../protocol/errors.ts"
import type { UserId } from "../protocol/ids.ts"
import { own } from "../protocol/own.ts"
import type { NewAccess, ProviderView } from "../protocol/providers.ts"
import type { OwnAccess, PersonalModels, StoredKeys } from "./personal-models.ts"
import type { OutboundPolicy } from "./network/outbound-policy.ts"
import { type Provider, providers, type ReachableProvider } from "./providers/list.ts"
import { accessTo } from "./providers/settings.ts"

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
    const brought = await (await keys.read(user)).open()
    const registry = await models.of(user)
    return registry.table.names.map((name) => {
      const need = registry.needOf(name)
      const operatorOnly = registry.table.isNamed(name) ? { operatorOnly: true as const } : {}
      const given = brought.get(name)
      const source = given ? "own" : need === null ? "shared" : null
      const access = given === "unreadable" ? undefined : given
      const address = access?.baseUrl ? { baseUrl: access.baseUrl } : {}
      return { name, configured: need === null, source, ...address, ...fieldsOf(name, access), need, ...operatorOnly }
    })
  }

  async find(user: UserId, name: string): Promise<ProviderView> {
    const view = (await this.list(user)).find((each) => each.name === name)
    if (!view) throw failure("not_found")
    return view
  }

  async save(user: UserId, name: string, { apiKey, baseUrl, fields }: NewAccess): Promise<void> {
    if (this.#needs.models.shared.table.isNamed(name)) throw failure("bad_request", { problem: operators(name) })
    const provider = toProvider(name)
    const access = {
      ...{ ...(apiKey ? { apiKey } : {}), ...(baseUrl ? { baseUrl } : {}) },
      ...(fields && Object.keys(fields).length > 0 ? { fields } : {}),
    }
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

/** What a provider takes beside a key and an address, and what of it the person has given. */
function fieldsOf(name: string, access: OwnAccess | undefined): Pick<ProviderView, "fields"> {
  const { more } = own<Provider>(providers, name) ?? {}
  if (!more) return {}
  const fields = Object.entries(more).map(([field, { says, isSecret = false }]) => {
    const value = isSecret ? undefined : access?.fields?.[field]
    return { name: field, says, isSecret, ...(value === undefined ? {} : { value }) }
  })
  return { fields }
}

/** Its headers may be what the operator pays with, so that nobody's key alone makes it theirs. */
function operators(name: string): string {
  return `Only whoever runs this server says how ${name} is reached. Store a key and an address of your own under openai or anthropic.`
}

function problemWith(name: ReachableProvider, { fields = {}, ...access }: OwnAccess): string | undefined {
  const provider: Provider = providers[name]
  const { wants, more = {} } = provider
  const unknown = Object.keys(fields).find((field) => !Object.hasOwn(more, field))
  if (unknown !== undefined) return `fields: ${name} takes ${Object.keys(more).join(", ") || "none"}.`
  const found = accessTo(provider, { ...fields, ...access })
  if ("open" in found) return undefined
  const place = (means: string) => (Object.hasOwn(more, means) ? `fields.${means}` : means)
  if ("notAnAddress" in found) return "baseUrl: it must be an http address."
  if ("wrong" in found) return `${place(found.wrong)}: it must be ${found.mustBe}.`
  switch (wants) {
    case "key":
      return `apiKey: ${name} needs one.`
    case "address":
      return `baseUrl: say where your ${name} is.`
    case "both":
      return `Send an apiKey and a baseUrl: ${name} needs both.`
    case "either":
      return "Send an apiKey, a baseUrl or both."
    case "several":
      return `Send ${place(found.lacks)}${found.or ? `, or ${found.or.map(place).join(" and ")}` : ""}: ${name} needs it.`
  }
}
