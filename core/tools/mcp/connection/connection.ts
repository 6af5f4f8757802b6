import type { CallToolResult, Client } from "@modelcontextprotocol/client"
import { type Clock, monotonicOf } from "../../../shared/time/clock.ts"
import { failure } from "../../../protocol/errors.ts"
import type { UserId } from "../../../protocol/ids.ts"
import { type McpServer, toToolFacts } from "../definition/server.ts"
import type { McpToolFacts } from "../../../engine/mcp.ts"
import { type ElicitingCall, ElicitingCalls, TaskRequests } from "./task-requests.ts"
import {
  connect,
  isSignInError,
  problemOf,
  ProgramFault,
  refusedAddress,
  type RequestAuth,
  type ConnectionOptions,
} from "./connect.ts"

/** Most tools of one server. */
const MAX_TOOLS = 100
/** Most stored characters of them, which are read before each call: as many as a model is shown of all servers. */
const MAX_CHARACTERS = 200_000
const LIST_MS = 10_000
/** A list that takes longer marks the connection as hanging, because a run waits for less. */
const HANGS_MS = 5000
/** How old the list may be for a call: a server need not report changes. */
const FRESH_MS = 30_000

interface CalledTool {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** Called with progress, which does not extend the time limit. */
  readonly onProgress?: (progress: unknown) => void
}

/** The owner of a connection. */
interface OpenedFor {
  readonly user: UserId
  readonly clock: Clock
  readonly signal: AbortSignal
  listChanged(connection: McpConnection): void
}

/** A connection to one server for one person. A fault of the server ends this connection and its calls. */
export class McpConnection {
  readonly #client: Client
  readonly #clock: Clock
  readonly #server: McpServer
  readonly #auth: RequestAuth | undefined
  #tools: ReadonlyMap<string, McpToolFacts> = new Map()
  /** When they were listed; undefined if they must be listed again. */
  #listedAt: number | undefined
  readonly #questioning: ElicitingCalls
  #isClosed = false
  #hangs = false

  private constructor(
    server: McpServer,
    client: Client,
    { clock, auth, questioning }: { clock: Clock; auth: RequestAuth | undefined; questioning: ElicitingCalls },
  ) {
    this.#questioning = questioning
    this.#server = server
    this.#auth = auth
    this.#client = client
    this.#clock = clock
  }

  static async open(server: McpServer, options: ConnectionOptions, parts: OpenedFor) {
    const { user, clock, signal, listChanged } = parts
    const auth = options.authFor(server, user)
    const questioning = new ElicitingCalls()
    let opened: McpConnection | undefined
    const callbacks = {
      listChanged: () => opened && listChanged(opened),
      asks: (question: unknown) => questioning.answer(question),
      closed() {
        if (opened) opened.#isClosed = true
      },
    }
    const client = await connect(server, options, { callbacks, auth, signal }).catch(async (error: unknown) => {
      // For a program that was stopped because it took too long, the fault says why.
      if (!(error instanceof ProgramFault)) signal.throwIfAborted()
      throw toFailure(auth ? await auth.judge(error) : error, secretsOf(server, auth))
    })
    opened = new McpConnection(server, client, { clock, auth, questioning })
    return opened
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** It did not answer the tool list. A hanging program would be asked again and again, so another one is started. */
  get hangs(): boolean {
    return this.#hangs
  }

  /** Secrets that results must not repeat, including tokens sent over it. */
  get secrets(): readonly string[] {
    return secretsOf(this.#server, this.#auth)
  }

  forgetList(): void {
    this.#listedAt = undefined
  }

  /** The tools by the server's names. Listed again after a change notification, and after a while. */
  async tools(signal: AbortSignal): Promise<ReadonlyMap<string, McpToolFacts>> {
    if (this.#listedAt !== undefined && this.#clock.now() - this.#listedAt < FRESH_MS) return this.#tools
    // The library would write a warning to standard output, which may carry a protocol.
    if (!this.#client.getServerCapabilities()?.tools) return this.#keepList(new Map())
    const askedAt = monotonicOf(this.#clock)
    const { tools } = await this.#client
      .listTools(undefined, { signal, timeout: LIST_MS, cacheMode: "refresh" })
      .catch(async (error: unknown) => {
        this.#hangs ||= monotonicOf(this.#clock) - askedAt >= HANGS_MS
        signal.throwIfAborted()
        if (isUnknownSession(error)) await this.close()
        this.#hangs ||= isTooLate(error)
        throw toFailure(await this.recordAuthError(error), this.secrets)
      })
    const facts = tools.slice(0, MAX_TOOLS).flatMap((listed) => toToolFacts(listed) ?? [])
    const byName = new Map<string, McpToolFacts>()
    let left = MAX_CHARACTERS
    for (const each of facts) {
      if ((left -= JSON.stringify(each).length) < 0) break
      if (!byName.has(each.tool)) byName.set(each.tool, each)
    }
    return this.#keepList(byName)
  }

  #keepList(tools: ReadonlyMap<string, McpToolFacts>): ReadonlyMap<string, McpToolFacts> {
    this.#tools = tools
    this.#listedAt = this.#clock.now()
    return tools
  }

  /** Throws the library's error: the caller decides whether the server may have started. */
  call({ tool, input, signal, timeoutMs, onProgress }: CalledTool): Promise<CallToolResult> {
    const progress = onProgress ? { onprogress: onProgress } : {}
    // With a definition without an output schema the library does not validate results: a completed write with an unexpected
    // result would be reported as refused. It also never repeats a call.
    const toolDefinition = {
      name: tool,
      inputSchema: { ...this.#tools.get(tool)?.inputSchema, type: "object" as const },
    }
    const how = { signal, timeout: timeoutMs, toolDefinition, ...progress }
    return this.#client.callTool({ name: tool, arguments: { ...input } }, how)
  }

  /** Records what an error means for the person's sign-in, and returns the error to report. */
  async recordAuthError(error: unknown): Promise<unknown> {
    return this.#auth ? this.#auth.judge(error) : error
  }

  /** Executes a call during which the server may ask questions. */
  asking<T>(asking: ElicitingCall, work: () => Promise<T>): Promise<T> {
    return this.#questioning.during(asking, work)
  }

  /** For calls as tasks. Undefined if the server has none, or uses a revision that the library does not support. */
  get tasks(): TaskRequests | undefined {
    const isOffered = this.#client.getServerCapabilities()?.tasks?.requests?.tools?.call !== undefined
    return isOffered && this.#client.getProtocolEra() === "legacy" ? new TaskRequests(this.#client) : undefined
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#client.close().catch(() => {})
  }
}

/** The server, or a proxy, does not know this session. */
export const isUnknownSession = (error: unknown): boolean => (error as { status?: unknown })?.status === 404

/** The library's time limit expired. */
const isTooLate = (error: unknown): boolean => (error as { code?: unknown })?.code === "REQUEST_TIMEOUT"

/** Errors that a person can act on are passed on unchanged. */
const toFailure = (error: unknown, secrets: readonly string[]): Error =>
  isSignInError(error)
    ? error
    : (refusedAddress(error) ?? failure("mcp_server_failed", { problem: problemOf(error, { secrets }) }))

const secretsOf = ({ secrets }: McpServer, auth: RequestAuth | undefined): readonly string[] => [
  ...secrets,
  ...(auth?.secrets ?? []),
]
