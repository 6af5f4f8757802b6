import { type Clock, monotonicOf } from "../agent/clock.ts"
import type { UserId } from "../protocol/ids.ts"
import type { StoredMcpServer } from "../protocol/ports/mcp.ts"
import { sentSecrets } from "./definition/sent-secrets.ts"
import type { McpServer } from "./definition/server.ts"

/** What people have named, as the store has it. */
export interface NamedByPeople {
  isAny(): Promise<boolean>
  list(user: UserId): Promise<readonly StoredMcpServer[]>
}

/** For how long what was read of somebody's servers counts for runs. Another node may have changed them, and is heard of within 2 s. */
const FRESH_MS = 1000
const MAX_KEPT = 1000
const TIMEOUT_SECONDS = 60
const TASK_SECONDS = 3600

/** Which servers a person's agents may have tools of. Where nobody has named one, hardly anything is asked. */
export class NamedServers {
  readonly #operators: readonly McpServer[]
  readonly #people: NamedByPeople
  readonly #clock: Clock
  #noneAt: number | undefined
  /** How often something was forgotten: what was asked for before that and comes after it is not kept. */
  #changes = 0
  readonly #kept = new Map<UserId, { readonly servers: readonly McpServer[]; readonly at: number }>()

  constructor(operators: readonly McpServer[], people: NamedByPeople, clock: Clock) {
    this.#operators = operators
    this.#people = people
    this.#clock = clock
  }

  /** Nobody has named one, as far as was looked a moment ago. */
  get isNone(): boolean {
    return this.#operators.length === 0 && this.#isFresh(this.#noneAt)
  }

  /** As they are in the record, whichever node has changed them: for people, whose next request goes to any node. */
  now(user: UserId): Promise<readonly McpServer[]> {
    this.forget(user)
    return this.of(user)
  }

  /** As they were a moment ago: for runs. What was removed since has no pinned tools any more, and is not called. */
  async of(user: UserId): Promise<readonly McpServer[]> {
    if (this.#isFresh(this.#noneAt)) return this.#operators
    const kept = this.#kept.get(user)
    if (kept && this.#isFresh(kept.at)) return kept.servers
    const [at, changes] = [monotonicOf(this.#clock), this.#changes]
    if (!(await this.#people.isAny())) {
      if (changes === this.#changes) this.#noneAt = at
      return this.#operators
    }
    const taken = new Set(this.#operators.map(({ name }) => name))
    const own = (await this.#people.list(user)).filter(({ name }) => !taken.has(name)).map(toServer)
    const servers = [...this.#operators, ...own]
    if (changes !== this.#changes) return servers
    this.#kept.set(user, { servers, at })
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest)
    return servers
  }

  /** What was read of somebody's counts no more: it has been changed here, or may have been elsewhere. */
  forget(user: UserId): void {
    this.#changes++
    this.#noneAt = undefined
    this.#kept.delete(user)
  }

  #isFresh(at: number | undefined): boolean {
    return at !== undefined && monotonicOf(this.#clock) - at < FRESH_MS
  }
}

/** A person's own, whose tools each ask until that person has decided otherwise. */
export function toServer({ id, name, agents, target, version }: StoredMcpServer): McpServer {
  const { url, headers, isPublic, oauth } = target
  return {
    ...{ key: id, version, name, isPersons: true, agents },
    target: { kind: "http", url, headers, ...(oauth ? { oauth } : {}) },
    ...{ rules: {}, idempotent: [], isPublic, timeoutSeconds: TIMEOUT_SECONDS, taskSeconds: TASK_SECONDS },
    secrets: sentSecrets([...Object.values(headers), oauth?.clientSecret ?? ""]),
  }
}
