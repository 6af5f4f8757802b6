import type { Clock } from "../../shared/time/clock.ts"
import type { ToolsRequest, JoinedTool } from "../../engine/definition/joined-tools.ts"
import type { Answer, CallContext } from "../../engine/definition/tool.ts"
import type { Log } from "../../shared/log.ts"
import { failure } from "../../protocol/errors.ts"
import type { UserId } from "../../protocol/ids.ts"
import type { JsonObject } from "../../protocol/schema.ts"
import { callTool, notCalled } from "./call-tool.ts"
import { isSignInError, type Ways } from "./connection/connect.ts"
import { ConnectionPool } from "./connection/pool.ts"
import type { McpPins, McpSignIns, PinnedFacts, PinnedMcpTool } from "../../engine/mcp.ts"
import { hashOf, type McpServer } from "./definition/server.ts"
import type { ResultFileKeeper } from "./result.ts"
import { FirstLooks, ListRefresh, offeredTools } from "./offered-tools.ts"
import { type PersonAuthPorts, PersonTokens } from "./sign-in/person-auth.ts"
import { beginAtServer, finishAtServer, requireSignIn, type SignInBegins } from "./sign-in/sign-in.ts"

/** Of all servers together: more tools than these leave a model no room to think, and a person none to look. */
const MAX_TOOLS = 128
const MAX_CHARACTERS = 200_000

export interface McpToolsPorts {
  readonly ways: Omit<Ways, "authFor">
  readonly pins: McpPins
  readonly files: ResultFileKeeper
  readonly signIns: McpSignIns
  /** Those of the operator, and those of this person. */
  serversOf(user: UserId): Promise<readonly McpServer[]>
  readonly clock: Clock
  readonly log: Log
}

/** The tools of MCP servers, for agents that may have them. */
export class McpTools implements AsyncDisposable {
  readonly #ports: McpToolsPorts
  readonly #pool: ConnectionPool
  readonly #signingIn: PersonAuthPorts
  readonly #firstLooks: FirstLooks

  constructor(ports: McpToolsPorts) {
    this.#ports = ports
    const { ways, signIns, clock } = ports
    this.#firstLooks = new FirstLooks(clock)
    this.#signingIn = { signIns, ways: { ...ways, clock }, clock }
    const tokens = new PersonTokens(this.#signingIn)
    const authFor = (server: McpServer, user: UserId) => (maySignIn(server) ? tokens.for(server, user) : undefined)
    const refresh = new ListRefresh(ports)
    this.#pool = new ConnectionPool({ ...ways, authFor }, clock, (change) => refresh.changed(change))
  }

  /** By what is pinned; a server is asked only where nothing is known of it yet. One that fails leaves the others as they are. */
  async toolsFor({ user, agent, signal }: ToolsRequest): Promise<JoinedTool[]> {
    const { serversOf, log } = this.#ports
    const servers = (await serversOf(user)).filter(({ agents }) => agents.includes(agent))
    const lists = await Promise.all(
      servers.map(async (server) => {
        try {
          return offeredTools(server, await this.#pinned(server, user, signal))
        } catch (error) {
          signal.throwIfAborted()
          if (isSignInError(error)) return [] // its person is told where they look for it
          log.warn("mcp_server_failed", { server: server.name, error })
          return []
        }
      }),
    )
    return bounded(lists.flat())
  }

  async call(joined: JoinedTool, input: JsonObject, context: CallContext): Promise<Answer> {
    const servers = await this.#ports.serversOf(context.user)
    const server = servers.find(({ key }) => key === joined.server)
    if (!server) return notCalled(joined, context, "The MCP server of this tool is not there any more. Do without it.")
    const { pins, files, clock } = this.#ports
    return callTool({ pool: this.#pool, pins, files, clock }, server, { joined, input, context })
  }

  /** Asks a server what it offers, and notes it. */
  async look(server: McpServer, user: UserId, signal: AbortSignal): Promise<readonly PinnedMcpTool[]> {
    const { pins } = this.#ports
    await pins.see(server.key, server.isPersons ? user : null, await this.read(server, user, signal))
    return pins.read(server.key)
  }

  /** Asks a server what it offers. */
  async read(server: McpServer, user: UserId, signal: AbortSignal): Promise<PinnedFacts[]> {
    const tools = await this.#pool.use({ server, user, signal }, (connection) => {
      connection.forgetList()
      return connection.tools(signal)
    })
    return [...tools.values()].map((facts) => ({ hash: hashOf(facts), facts }))
  }

  /** As `read`. Of one that wants a sign-in, and where that can be done, nothing yet. */
  async readOrSignIn(server: McpServer, user: UserId, signal: AbortSignal): Promise<PinnedFacts[]> {
    try {
      return await this.read(server, user, signal)
    } catch (error) {
      if (!isSignInError(error)) throw error
      await requireSignIn(this.#signingIn, server, user).catch(async (reason: unknown) => {
        await this.#ports.signIns.remove(user, server.key)
        throw reason
      })
      return []
    }
  }

  async beginSignIn(server: McpServer, user: UserId, from: SignInBegins): Promise<string> {
    if (!maySignIn(server))
      throw failure("bad_request", {
        problem: "This server needs no sign-in, because it is a local program or uses an API key.",
      })
    return beginAtServer(this.#signingIn, { server, user }, from)
  }

  finishSignIn(came: Parameters<typeof finishAtServer>[1]): Promise<McpServer> {
    return finishAtServer(this.#signingIn, came)
  }

  async #pinned(server: McpServer, user: UserId, signal: AbortSignal): Promise<readonly PinnedMcpTool[]> {
    const { pins, signIns } = this.#ports
    const pinned = await pins.read(server.key)
    if (pinned.length > 0) return pinned
    // What it offers is known when the person has signed in; until then it is not asked before every run.
    const state = maySignIn(server) ? (await signIns.states(user)).get(server.key) : undefined
    if (state === "needed" || state === "ended") return []
    const key = JSON.stringify([server.key, server.version, user])
    return (await this.#firstLooks.look(key, signal, (inner) => this.look(server, user, inner))) ?? []
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool[Symbol.asyncDispose]()
  }
}

/** Names that two servers came to both are the first one's; what does not fit is left out. */
function bounded(tools: readonly JoinedTool[]): JoinedTool[] {
  const byName = new Map<string, JoinedTool>()
  let characters = 0
  for (const tool of tools) {
    characters += JSON.stringify(tool).length
    if (byName.size >= MAX_TOOLS || characters > MAX_CHARACTERS) break
    if (!byName.has(tool.name)) byName.set(tool.name, tool)
  }
  return [...byName.values()]
}

/** Where no key is sent by a header: with one, its server has nothing to ask the person for. */
const maySignIn = ({ target }: McpServer): boolean =>
  target.kind === "http" && !Object.keys(target.headers).some((name) => name.toLowerCase() === "authorization")
