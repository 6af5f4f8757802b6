import { randomUUID } from "node:crypto"
import type {
  McpPins,
  McpSignIns,
  McpTarget,
  McpToolDecision,
  PinnedFacts,
  PinnedMcpTool,
  StoredMcpServer,
} from "../../engine/mcp.ts"
import { isThisMachine } from "../../protocol/databases/connections.ts"
import type { Page } from "../../protocol/answers.ts"
import { failure } from "../../protocol/errors.ts"
import type { PageQuery } from "../../protocol/requests.ts"
import type { McpServerId, UserId } from "../../protocol/ids.ts"
import type {
  ChangedMcpServer,
  McpDecision,
  McpServerView,
  McpSignInState,
  McpToolView,
  NewMcpServer,
} from "../../protocol/mcp-servers.ts"
import type { McpServer } from "./definition/server.ts"
import type { McpTools } from "./mcp-tools.ts"
import { type StoredServers, type ServerList, toServer } from "./server-list.ts"
import { isAgreed, mayRunAgain, ruleOf } from "./offered-tools.ts"
import type { SignInStart } from "./sign-in/sign-in.ts"

/** A single server may have more: its tools, and their definitions at approval. */
const MAX_PAGE_CHARACTERS = 500_000

/** The store of people's servers and decisions. */
export interface PersonServersPorts {
  readonly records: StoredServers & {
    create(user: UserId, server: Omit<StoredMcpServer, "version">): Promise<void>
    change(user: UserId, before: StoredMcpServer, server: Omit<StoredMcpServer, "version">): Promise<boolean>
    /** Throws `not_found` if the person has no such server. */
    remove(user: UserId, name: string): Promise<void>
    newId(user: UserId): McpServerId
  }
  readonly pins: McpPins & {
    agree(server: string, tool: string, agreed: McpToolDecision): Promise<boolean>
  }
  readonly signIns: Pick<McpSignIns, "states" | "remove">
  readonly named: ServerList
  /** The names of this server's agents. */
  readonly agents: readonly string[]
  /** Loaded on demand. */
  tools(): Promise<McpTools>
}

/** Adds, changes and removes people's MCP servers, and records decisions about tools. */
export class PersonServers {
  readonly #ports: PersonServersPorts

  constructor(ports: PersonServersPorts) {
    this.#ports = ports
  }

  /** The servers after the one that `cursor` names, as many as fit in a page. */
  async list(user: UserId, { cursor, limit }: PageQuery): Promise<Page<McpServerView>> {
    const { named, pins, signIns } = this.#ports
    const [servers, states] = await Promise.all([named.now(user), signIns.states(user)])
    // A server that was removed in the meantime is not found: the list starts over, so that none is left out.
    const remaining = servers.slice(servers.findIndex(({ name }) => name === cursor) + 1)
    const items: McpServerView[] = []
    let length = 0
    // One after another, because the tools of one server alone can fill a page.
    for (const server of remaining) {
      const view = toServerView(server, await pins.read(server.key), states.get(server.key))
      length += JSON.stringify(view).length
      if (items.length > 0 && (items.length === limit || length > MAX_PAGE_CHARACTERS)) break
      items.push(view)
    }
    return { items, nextCursor: items.length < remaining.length ? (items.at(-1)?.name ?? null) : null }
  }

  /**
   * Connects first: an unreachable server is not stored. A stored one has its tools, or gets them when its person signs in.
   */
  async add(user: UserId, added: NewMcpServer, signal: AbortSignal): Promise<McpServerView> {
    const { records, named, pins } = this.#ports
    const problem = this.#problemWith(added, await named.now(user))
    if (problem) throw failure("bad_request", { problem })
    const stored = toStored(records.newId(user), added)
    const found = await this.#ask(stored, user, signal)
    try {
      await records.create(user, stored)
    } catch (error) {
      await this.#ports.signIns.remove(user, stored.id)
      throw error
    }
    named.forget(user)
    await pins.see(stored.id, user, found)
    return this.#view(user, added.name)
  }

  /**
   * Connects first if the connection changes. Another address means another server with a new id, so that no pending call
   * reaches it, and earlier approvals are only shown for comparison.
   */
  async change(
    user: UserId,
    name: string,
    { change, signal }: { readonly change: ChangedMcpServer; readonly signal: AbortSignal },
  ): Promise<McpServerView> {
    const { records, named, pins, signIns } = this.#ports
    const before = (await records.list(user)).find((each) => each.name === name)
    if (!before) throw failure("not_found")
    const { whole, isMoved, isAsked } = toChanged(before, change)
    const others = (await named.now(user)).filter(({ key }) => key !== before.id)
    const problem = this.#problemWith(whole, others)
    if (problem) throw failure("bad_request", { problem })
    const stored = toStored(isMoved ? records.newId(user) : before.id, whole)
    const found = isAsked ? await this.#ask(stored, user, signal) : undefined
    if (!(await records.change(user, before, stored))) {
      if (isMoved) await signIns.remove(user, stored.id)
      throw failure("bad_request", {
        problem: "The MCP server was changed in the meantime. Reload it and repeat your change.",
      })
    }
    named.forget(user)
    if (found) await pins.see(stored.id, user, found)
    return this.#view(user, whole.name)
  }

  /** Lists its tools over a new connection. */
  async #ask(stored: Omit<StoredMcpServer, "version">, user: UserId, signal: AbortSignal) {
    const tools = await this.#ports.tools()
    return tools.readOrSignIn(toServer({ ...stored, version: `asked ${randomUUID()}` }), user, signal)
  }

  async beginSignIn(user: UserId, name: string, from: SignInStart): Promise<string> {
    const server = await this.#find(user, name)
    return (await this.#ports.tools()).beginSignIn(server, user, from)
  }

  /** Lists its tools at once. If that fails, the person is still signed in and can retry. */
  async finishSignIn(
    user: UserId,
    {
      answer,
      session,
      signal,
    }: { readonly answer: string; readonly session: string | undefined; readonly signal: AbortSignal },
  ): Promise<McpServerView> {
    const tools = await this.#ports.tools()
    const find = async (key: string) => (await this.#ports.named.now(user)).find((each) => each.key === key)
    const server = await tools.finishSignIn({ user, answer, session, find })
    await tools.look(server, user, signal).catch(() => {})
    return this.#view(user, server.name)
  }

  async endSignIn(user: UserId, name: string): Promise<void> {
    const server = await this.#find(user, name)
    await this.#ports.signIns.remove(user, server.key)
  }

  async look(user: UserId, name: string, signal: AbortSignal): Promise<McpServerView> {
    const server = await this.#find(user, name)
    await (await this.#ports.tools()).look(server, user, signal)
    return this.#view(user, name)
  }

  async decide(
    user: UserId,
    name: string,
    { tool, hash, rule, again, isAdmin }: McpDecision & { readonly isAdmin: boolean },
  ): Promise<McpServerView> {
    const server = await this.#find(user, name)
    const { pins } = this.#ports
    if (!server.isPersons && !isAdmin) throw failure("forbidden", { scope: "admin" })
    if (!server.isPersons && (rule !== undefined || again !== undefined))
      throw failure("bad_request", { problem: "For a server of the operator this stands in the file of PAWL_MCP." })
    const pin = (await pins.read(server.key)).find((each) => each.tool === tool)
    if (!pin) throw failure("not_found")
    if (again === true && pin.seen.facts.claims.idempotent !== true)
      throw failure("bad_request", { problem: "again: the tool does not say that a second time changes nothing." })
    // The approval is for the definition that was shown: if it has changed, nothing is recorded.
    if (!(await pins.agree(server.key, tool, { hash, rule, again })))
      throw failure("bad_request", { problem: "hash: the tool has changed since you saw it; look at it again." })
    return this.#view(user, name)
  }

  async remove(user: UserId, name: string): Promise<void> {
    const { records, named } = this.#ports
    await records.remove(user, name)
    named.forget(user)
  }

  #problemWith({ name, url, headers, agents, oauth }: NewMcpServer, servers: readonly McpServer[]): string | undefined {
    if (servers.some((each) => each.name === name)) return `name: there is a server "${name}" already.`
    const { protocol, hostname, username, password } = new URL(url)
    if (username || password) return "url: put a name or a password into a header."
    if (
      protocol === "http:" &&
      (Object.keys(headers).length > 0 || oauth?.clientSecret !== undefined) &&
      !isThisMachine(hostname)
    )
      return "url: headers are sent over https only."
    const unknown = agents.find((agent) => !this.#ports.agents.includes(agent))
    if (unknown === undefined) return undefined
    return `agents: there is no agent "${unknown}". There are: ${this.#ports.agents.join(", ")}.`
  }

  async #find(user: UserId, name: string): Promise<McpServer> {
    const server = (await this.#ports.named.now(user)).find((each) => each.name === name)
    if (!server) throw failure("not_found")
    return server
  }

  async #view(user: UserId, name: string): Promise<McpServerView> {
    const server = await this.#find(user, name)
    const { pins, signIns } = this.#ports
    const [pinned, states] = await Promise.all([pins.read(server.key), signIns.states(user)])
    return toServerView(server, pinned, states.get(server.key))
  }
}

/** A server after a change, as if it were new. */
interface Changed {
  readonly whole: NewMcpServer
  /** Its address changed, so it may be another server. */
  readonly isMoved: boolean
  /** Its connection changed, so it must be tested. */
  readonly isAsked: boolean
}

/**
 * Applies a change. Missing fields stay, but secrets are not sent to a new address: a person who may change the address could
 * read them there.
 */
function toChanged({ name, agents, target }: StoredMcpServer, change: ChangedMcpServer): Changed {
  const { url, isPublic } = target
  const isMoved = change.url !== undefined && change.url !== url
  const stays: Pick<McpTarget, "headers" | "oauth"> = isMoved ? { headers: {} } : target
  const oauth = change.oauth === undefined ? stays.oauth : (change.oauth ?? undefined)
  const whole = {
    name: change.name ?? name,
    url: change.url ?? url,
    headers: merged(stays.headers, change.headers ?? {}),
    agents: change.agents ?? [...agents],
    data: change.data ?? (isPublic ? "public" : "private"),
    ...(oauth ? { oauth } : {}),
  } as const
  const isAsked = isMoved || change.headers !== undefined || change.oauth !== undefined
  return { whole, isMoved, isAsked }
}

/** Header names are case-insensitive; null removes one. */
function merged(
  before: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string | null>>,
): Record<string, string> {
  const changed = new Set(Object.keys(changes).map((name) => name.toLowerCase()))
  const left = Object.entries(before).filter(([name]) => !changed.has(name.toLowerCase()))
  const added = Object.entries(changes).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]))
  return Object.fromEntries([...left, ...added])
}

const toStored = (id: McpServerId, added: NewMcpServer): Omit<StoredMcpServer, "version"> => {
  const { name, url, headers, agents, data, oauth } = added
  return { id, name, agents, target: { url, headers, isPublic: data === "public", ...(oauth ? { oauth } : {}) } }
}

/** The view of a server for people, without the values of its headers. */
function toServerView(
  server: McpServer,
  pinned: readonly PinnedMcpTool[],
  signIn: McpSignInState | undefined,
): McpServerView {
  const { name, isPersons, target, agents, isPublic } = server
  return {
    name,
    by: isPersons ? "person" : "operator",
    address: target.kind === "http" ? addressOf(target.url) : (target.command[0] ?? ""),
    headers: target.kind === "http" ? Object.keys(target.headers) : [],
    agents: [...agents],
    data: isPublic ? "public" : "private",
    ...(signIn ? { signIn } : {}),
    tools: pinned.map((pin) => toToolView(server, pin)),
  }
}

/** Without credentials and query, which may contain tokens. */
function addressOf(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}

function toToolView(server: McpServer, pin: PinnedMcpTool): McpToolView {
  const { tool, agreed, seen } = pin
  const state = isAgreed(pin) ? "agreed" : agreed ? "changed" : "new"
  const before = agreed && state === "changed" ? { before: toDefinition(agreed) } : {}
  return { tool, rule: ruleOf(server, pin), again: mayRunAgain(server, pin), state, now: toDefinition(seen), ...before }
}

function toDefinition({ hash, facts: { description, inputSchema, claims } }: PinnedFacts): McpToolView["now"] {
  return { hash, description, inputSchema, claims }
}
