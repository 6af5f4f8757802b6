import type { Clock } from "../../shared/time/clock.ts"
import type { ToolsRequest, JoinedTool } from "../../engine/definition/joined-tools.ts"
import type { Answer, CallContext } from "../../engine/definition/tool.ts"
import type { Log } from "../../shared/log.ts"
import { failure } from "../../protocol/errors.ts"
import type { UserId } from "../../protocol/ids.ts"
import type { JsonObject } from "../../protocol/schema.ts"
import { callTool, notCalled } from "./call-tool.ts"
import { isSignInError, type ConnectionOptions } from "./connection/connect.ts"
import { ConnectionPool } from "./connection/pool.ts"
import type { McpPins, McpSignIns, PinnedFacts, PinnedMcpTool } from "../../engine/mcp.ts"
import { hashOf, type McpServer } from "./definition/server.ts"
import type { ResultFileKeeper } from "./result.ts"
import { FirstListing, ListRefresh, offeredTools } from "./offered-tools.ts"
import { type PersonAuthPorts, PersonTokens } from "./sign-in/person-auth.ts"
import { startSignIn, finishSignInAt, requireSignIn, type SignInStart } from "./sign-in/sign-in.ts"

/** Most tools of all servers together: more leave a model no context, and a person cannot review them. */
const MAX_TOOLS = 128
const MAX_CHARACTERS = 200_000

interface McpToolsPorts {
  readonly options: Omit<ConnectionOptions, "authFor">
  readonly pins: McpPins
  readonly files: ResultFileKeeper
  readonly signIns: McpSignIns
  /** The operator's servers and this person's. */
  serversOf(user: UserId): Promise<readonly McpServer[]>
  readonly clock: Clock
  readonly log: Log
}

/** The tools of MCP servers. */
export class McpTools implements AsyncDisposable {
  readonly #ports: McpToolsPorts
  readonly #pool: ConnectionPool
  readonly #signingIn: PersonAuthPorts
  readonly #firstListing: FirstListing

  constructor(ports: McpToolsPorts) {
    this.#ports = ports
    const { options, signIns, clock } = ports
    this.#firstListing = new FirstListing(clock)
    this.#signingIn = { signIns, options: { ...options, clock }, clock }
    const tokens = new PersonTokens(this.#signingIn)
    const authFor = (server: McpServer, user: UserId) => (maySignIn(server) ? tokens.for(server, user) : undefined)
    const refresh = new ListRefresh(ports)
    this.#pool = new ConnectionPool({ ...options, authFor }, clock, (change) => refresh.changed(change))
  }

  /** The tools that are pinned; a server is only asked if none are. A failing server does not affect the others. */
  async toolsFor({ user, agent, signal }: ToolsRequest): Promise<JoinedTool[]> {
    const { serversOf, log } = this.#ports
    const servers = (await serversOf(user)).filter(({ agents }) => agents.includes(agent))
    const lists = await Promise.all(
      servers.map(async (server) => {
        try {
          return offeredTools(server, await this.#pinned(server, user, signal))
        } catch (error) {
          signal.throwIfAborted()
          if (isSignInError(error)) return [] // the person sees it in the settings
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

  /** Lists a server's tools and stores them. */
  async look(server: McpServer, user: UserId, signal: AbortSignal): Promise<readonly PinnedMcpTool[]> {
    const { pins } = this.#ports
    await pins.see(server.key, server.isPersons ? user : null, await this.read(server, user, signal))
    return pins.read(server.key)
  }

  /** Lists a server's tools. */
  async read(server: McpServer, user: UserId, signal: AbortSignal): Promise<PinnedFacts[]> {
    const tools = await this.#pool.use({ server, user, signal }, (connection) => {
      connection.forgetList()
      return connection.tools(signal)
    })
    return [...tools.values()].map((facts) => ({ hash: hashOf(facts), facts }))
  }

  /** The same, but returns nothing if the server requires a sign-in that is possible. */
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

  async beginSignIn(server: McpServer, user: UserId, from: SignInStart): Promise<string> {
    if (!maySignIn(server))
      throw failure("bad_request", {
        problem: "This server needs no sign-in, because it is a local program or uses an API key.",
      })
    return startSignIn(this.#signingIn, { server, user }, from)
  }

  finishSignIn(came: Parameters<typeof finishSignInAt>[1]): Promise<McpServer> {
    return finishSignInAt(this.#signingIn, came)
  }

  async #pinned(server: McpServer, user: UserId, signal: AbortSignal): Promise<readonly PinnedMcpTool[]> {
    const { pins, signIns } = this.#ports
    const pinned = await pins.read(server.key)
    if (pinned.length > 0) return pinned
    // Its tools are listed after the sign-in; until then it is not asked before every run.
    const state = maySignIn(server) ? (await signIns.states(user)).get(server.key) : undefined
    if (state === "needed" || state === "ended") return []
    const key = JSON.stringify([server.key, server.version, user])
    return (await this.#firstListing.look(key, signal, (inner) => this.look(server, user, inner))) ?? []
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool[Symbol.asyncDispose]()
  }
}

/** If two servers produce the same name, the first wins; tools beyond the limits are dropped. */
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

/** A server with an authorization header does not need a sign-in. */
const maySignIn = ({ target }: McpServer): boolean =>
  target.kind === "http" && !Object.keys(target.headers).some((name) => name.toLowerCase() === "authorization")
