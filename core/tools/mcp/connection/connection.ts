import type { CallToolResult, Client } from "@modelcontextprotocol/client"
import { type Clock, monotonicOf } from "../../../shared/time/clock.ts"
import { failure } from "../../../protocol/errors.ts"
import type { UserId } from "../../../protocol/ids.ts"
import { type McpServer, toToolFacts } from "../definition/server.ts"
import type { McpToolFacts } from "../../../engine/mcp.ts"
import { type QuestioningCall, QuestioningCalls, TaskRequests } from "./task-requests.ts"
import {
  connect,
  isSignInError,
  problemOf,
  ProgramFault,
  refusedAddress,
  type RequestAuth,
  type Ways,
} from "./connect.ts"

/** Tools of one server: more than anybody could look through. */
const MAX_TOOLS = 100
/** Of all that is kept of them, and read again before each call: as much as a model is shown of all servers together. */
const MAX_CHARACTERS = 200_000
const LIST_MS = 10_000
/** After which it hangs, whoever gives it up: a run waits for less long than a list may take. */
const HANGS_MS = 5000
/** How old a list may be when a call goes by it: a server that changes a tool need not say so. */
const FRESH_MS = 30_000

export interface CalledTool {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** Hears how far it is. However often that is, its time is not longer for it. */
  readonly onProgress?: (told: unknown) => void
}

/** For whom a connection is opened, and who hears that the list of its tools is another one. */
interface OpenedFor {
  readonly user: UserId
  readonly clock: Clock
  readonly signal: AbortSignal
  listChanged(connection: McpConnection): void
}

/** One server at work for one person. Whatever it does wrong ends this connection, and the call that waited for it. */
export class McpConnection {
  readonly #client: Client
  readonly #clock: Clock
  readonly #server: McpServer
  readonly #auth: RequestAuth | undefined
  #tools: ReadonlyMap<string, McpToolFacts> = new Map()
  /** When they were listed; undefined where they have to be asked for again. */
  #listedAt: number | undefined
  readonly #questioning: QuestioningCalls
  #isClosed = false
  #hangs = false

  private constructor(
    server: McpServer,
    client: Client,
    { clock, auth, questioning }: { clock: Clock; auth: RequestAuth | undefined; questioning: QuestioningCalls },
  ) {
    this.#questioning = questioning
    this.#server = server
    this.#auth = auth
    this.#client = client
    this.#clock = clock
  }

  static async open(server: McpServer, ways: Ways, given: OpenedFor) {
    const { user, clock, signal, listChanged } = given
    const auth = ways.authFor(server, user)
    const questioning = new QuestioningCalls()
    let opened: McpConnection | undefined
    const unasked = {
      listChanged: () => opened && listChanged(opened),
      asks: (asked: unknown) => questioning.answer(asked),
      closed() {
        if (opened) opened.#isClosed = true
      },
    }
    const client = await connect(server, ways, { unasked, auth, signal }).catch(async (error: unknown) => {
      // Of a program that was stopped because it took too long, this says why it may have.
      if (!(error instanceof ProgramFault)) signal.throwIfAborted()
      throw toFailure(auth ? await auth.judge(error) : error, secretsOf(server, auth))
    })
    opened = new McpConnection(server, client, { clock, auth, questioning })
    return opened
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** It did not even say what it offers. A program that hangs would be asked again for ever; another one is started. */
  get hangs(): boolean {
    return this.#hangs
  }

  /** What no result may repeat: also the tokens that were sent over it. */
  get secrets(): readonly string[] {
    return secretsOf(this.#server, this.#auth)
  }

  forgetList(): void {
    this.#listedAt = undefined
  }

  /** What it offers, by its own names. Asked again when it said that this has changed, or a while has passed. */
  async tools(signal: AbortSignal): Promise<ReadonlyMap<string, McpToolFacts>> {
    if (this.#listedAt !== undefined && this.#clock.now() - this.#listedAt < FRESH_MS) return this.#tools
    // The library would say so on standard output, where a program of ours may be speaking with somebody.
    if (!this.#client.getServerCapabilities()?.tools) return this.#keepList(new Map())
    const askedAt = monotonicOf(this.#clock)
    const { tools } = await this.#client
      .listTools(undefined, { signal, timeout: LIST_MS, cacheMode: "refresh" })
      .catch(async (error: unknown) => {
        this.#hangs ||= monotonicOf(this.#clock) - askedAt >= HANGS_MS
        signal.throwIfAborted()
        if (isForgotten(error)) await this.close()
        this.#hangs ||= isTooLate(error)
        throw toFailure(await this.judged(error), this.secrets)
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

  /** Throws what the library throws: whether the server has begun is for the caller to judge. */
  call({ tool, input, signal, timeoutMs, onProgress }: CalledTool): Promise<CallToolResult> {
    const heard = onProgress ? { onprogress: onProgress } : {}
    // Told so, the library holds its results against no promise of the server's: a write that was done, and whose answer is
    // not what was promised, would be reported as refused. Nor does it ever send a call a second time by itself.
    const toolDefinition = {
      name: tool,
      inputSchema: { ...this.#tools.get(tool)?.inputSchema, type: "object" as const },
    }
    const how = { signal, timeout: timeoutMs, toolDefinition, ...heard }
    return this.#client.callTool({ name: tool, arguments: { ...input } }, how)
  }

  /** What an error of a request says of the person's sign-in, noted; otherwise the error itself. */
  async judged(error: unknown): Promise<unknown> {
    return this.#auth ? this.#auth.judge(error) : error
  }

  /** Works on a call in which the server may ask something. */
  asking<T>(asking: QuestioningCall, work: () => Promise<T>): Promise<T> {
    return this.#questioning.during(asking, work)
  }

  /** For tools that are called as tasks. Undefined where the server has none, or speaks of them in a way that the library does not. */
  get tasks(): TaskRequests | undefined {
    const isOffered = this.#client.getServerCapabilities()?.tasks?.requests?.tools?.call !== undefined
    return isOffered && this.#client.getProtocolEra() === "legacy" ? new TaskRequests(this.#client) : undefined
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#client.close().catch(() => {})
  }
}

/** The server does not know this connection any more, or somebody in between says so. */
export const isForgotten = (error: unknown): boolean => (error as { status?: unknown })?.status === 404

/** The library has waited for it in vain. */
const isTooLate = (error: unknown): boolean => (error as { code?: unknown })?.code === "REQUEST_TIMEOUT"

/** What a person can do something about is told as it is. */
const toFailure = (error: unknown, secrets: readonly string[]): Error =>
  isSignInError(error)
    ? error
    : (refusedAddress(error) ?? failure("mcp_server_failed", { problem: problemOf(error, { secrets }) }))

const secretsOf = ({ secrets }: McpServer, auth: RequestAuth | undefined): readonly string[] => [
  ...secrets,
  ...(auth?.secrets ?? []),
]
