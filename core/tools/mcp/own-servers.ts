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
import { type NamedByPeople, type NamedServers, toServer } from "./named-servers.ts"
import { isAgreed, mayRunAgain, ruleOf } from "./offered-tools.ts"
import type { SignInBegins } from "./sign-in/sign-in.ts"

/** One server alone may have more: its tools, and what they were when they were approved. */
const MAX_PAGE_CHARACTERS = 500_000

/** What people name and decide, as the store keeps it. */
export interface OwnServersPorts {
  readonly records: NamedByPeople & {
    create(user: UserId, server: Omit<StoredMcpServer, "version">): Promise<void>
    change(user: UserId, before: StoredMcpServer, server: Omit<StoredMcpServer, "version">): Promise<boolean>
    /** Throws `not_found` where they have none of that name. */
    remove(user: UserId, name: string): Promise<void>
    newId(user: UserId): McpServerId
  }
  readonly pins: McpPins & {
    agree(server: string, tool: string, agreed: McpToolDecision): Promise<boolean>
  }
  readonly signIns: Pick<McpSignIns, "states" | "remove">
  readonly named: NamedServers
  /** The agents of this server, by name. */
  readonly agents: readonly string[]
  /** Loaded when somebody is spoken with. */
  tools(): Promise<McpTools>
}

/** The MCP servers of people: named, looked at, decided about and forgotten by them. */
export class OwnServers {
  readonly #ports: OwnServersPorts

  constructor(ports: OwnServersPorts) {
    this.#ports = ports
  }

  /** The servers after the one that `cursor` names, as many as fit in a page. */
  async list(user: UserId, { cursor, limit }: PageQuery): Promise<Page<McpServerView>> {
    const { named, pins, signIns } = this.#ports
    const [servers, states] = await Promise.all([named.now(user), signIns.states(user)])
    // A server that was removed meanwhile is not found: the list starts over, so that none is left out.
    const rest = servers.slice(servers.findIndex(({ name }) => name === cursor) + 1)
    const items: McpServerView[] = []
    let length = 0
    // One after another, because the tools of one server alone can fill a page.
    for (const server of rest) {
      const view = toServerView(server, await pins.read(server.key), states.get(server.key))
      length += JSON.stringify(view).length
      if (items.length > 0 && (items.length === limit || length > MAX_PAGE_CHARACTERS)) break
      items.push(view)
    }
    return { items, nextCursor: items.length < rest.length ? (items.at(-1)?.name ?? null) : null }
  }

  /**
   * Asks it first: what cannot be reached is not kept, and what is kept has its tools, or can be signed in to by its person,
   * who has them then.
   */
  async add(user: UserId, given: NewMcpServer, signal: AbortSignal): Promise<McpServerView> {
    const { records, named, pins } = this.#ports
    const problem = this.#problemWith(given, await named.now(user))
    if (problem) throw failure("bad_request", { problem })
    const stored = toStored(records.newId(user), given)
    const found = await this.#ask(stored, user, signal)
    try {
      await records.create(user, stored)
    } catch (error) {
      await this.#ports.signIns.remove(user, stored.id)
      throw error
    }
    named.forget(user)
    await pins.see(stored.id, user, found)
    return this.#view(user, given.name)
  }

  /**
   * Asks it first where it is reached in another way. At another address it is another server: it gets an id of its own, so
   * that no call that waits for a person reaches it, and what was agreed to is only shown as what was before.
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
      throw failure("bad_request", { problem: "It has been changed meanwhile. Look at it again." })
    }
    named.forget(user)
    if (found) await pins.see(stored.id, user, found)
    return this.#view(user, whole.name)
  }

  /** What it offers, over a connection of its own: nothing that was opened before is used for it. */
  async #ask(stored: Omit<StoredMcpServer, "version">, user: UserId, signal: AbortSignal) {
    const tools = await this.#ports.tools()
    return tools.readOrSignIn(toServer({ ...stored, version: `asked ${randomUUID()}` }), user, signal)
  }

  async beginSignIn(user: UserId, name: string, from: SignInBegins): Promise<string> {
    const server = await this.#find(user, name)
    return (await this.#ports.tools()).beginSignIn(server, user, from)
  }

  /** Its tools are asked for at once. Where that fails the person is signed in all the same, and may look again. */
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
    // What was shown is what is agreed to: had it changed meanwhile, nothing happens.
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

/** What a server is after a change, as if it were named anew. */
interface Changed {
  readonly whole: NewMcpServer
  /** Its address is another one, and with it, for all that anybody knows, the server. */
  readonly isMoved: boolean
  /** It is reached in another way: it has to be asked whether that works. */
  readonly isAsked: boolean
}

/**
 * A change over what is stored. What is not told of stays, but nothing secret goes to another address than the one that it
 * was given for: whoever may change an address could read it there.
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

/** By names that are the same whatever their letters; null takes one away. */
function merged(
  before: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string | null>>,
): Record<string, string> {
  const changed = new Set(Object.keys(changes).map((name) => name.toLowerCase()))
  const left = Object.entries(before).filter(([name]) => !changed.has(name.toLowerCase()))
  const given = Object.entries(changes).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]))
  return Object.fromEntries([...left, ...given])
}

/** As it is stored. */
const toStored = (id: McpServerId, given: NewMcpServer): Omit<StoredMcpServer, "version"> => {
  const { name, url, headers, agents, data, oauth } = given
  return { id, name, agents, target: { url, headers, isPublic: data === "public", ...(oauth ? { oauth } : {}) } }
}

/** What people are shown of a server: nothing that its headers hold. */
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

/** Without what stands before an @ or behind a question mark: tokens are put there too. */
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
