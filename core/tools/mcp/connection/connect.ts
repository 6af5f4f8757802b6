import type { AuthProvider, Client, Transport } from "@modelcontextprotocol/client"
import { withoutSecrets } from "../../../engine/calls/tool-end.ts"
import manifest from "../../../package.json" with { type: "json" }
import { AppError } from "../../../protocol/errors.ts"
import type { UserId } from "../../../protocol/ids.ts"
import { type McpServer, plainWords, type ProgramTarget } from "../definition/server.ts"
import { answerLimits, boundedFetch, CountedTransport } from "./counted-transport.ts"
import type { Launched, ProgramTransport } from "./program-transport.ts"
import type { GivenAnswer, Unaskable } from "./task-requests.ts"

const CONNECT_MS = 10_000
/** `npx -y` downloads a program before it starts it. */
const DOWNLOAD_MS = 60_000
/** A tool list of more pages is none that anybody could look through. */
const MAX_PAGES = 10
/** How often a call may be answered with questions instead of a result. */
const MAX_ROUNDS = 5

/** How servers are reached, and what they may start. */
export interface Ways {
  /** For addresses that people have given: each is judged where it is connected to. */
  readonly guardedFetch: typeof globalThis.fetch
  /** For the operator's. */
  readonly operatorFetch: typeof globalThis.fetch
  /** Starts a program of the operator's within its walls. Throws where it would have none and should. */
  launch(name: string, target: ProgramTarget): Promise<Launched>
  /** Undefined where it is sent a key of its own, or is a program: nobody signs in to those. */
  authFor(server: McpServer, user: UserId): RequestAuth | undefined
}

/** What a server tells of its own accord. */
interface Unasked {
  /** Its list of tools is another one now. */
  listChanged(): void
  closed(): void
  /** It wants to know something from the person. */
  asks(asked: unknown): Promise<GivenAnswer | Unaskable>
}

interface Given {
  readonly unasked: Unasked
  /** Of servers that may want a sign-in. */
  readonly auth: RequestAuth | undefined
  readonly signal: AbortSignal
}

/** A client that has shaken hands with the server. The library is loaded here, by the first server that somebody uses. */
export async function connect(server: McpServer, ways: Ways, { unasked, auth, signal }: Given): Promise<Client> {
  const { target } = server
  // Most programs know only the older handshake, and some end when they are greeted with the newer one.
  const modes = target.kind === "program" ? (["legacy", "auto"] as const) : (["auto"] as const)
  const timeout = target.kind === "program" && target.network ? DOWNLOAD_MS : CONNECT_MS
  let problem: unknown
  for (const mode of modes) {
    const client = await createClient(mode, unasked)
    const transport = await openTransport(server, ways, auth)
    try {
      await client.connect(new CountedTransport(transport), { signal, timeout })
      return client
    } catch (error) {
      // Before it is closed, which ends a program that has not ended by itself.
      const fault = isOfProgram(transport) ? new ProgramFault(error, transport, signal.aborted) : error
      await client.close().catch(() => {})
      if (signal.aborted) throw fault
      problem ??= fault
    }
  }
  throw problem
}

const isOfProgram = (transport: object): transport is ProgramTransport => "circumstances" in transport

/** "Connection closed" alone says nothing of a program: its error output and its sandbox do. */
export class ProgramFault extends Error {
  override readonly name = "ProgramFault"

  constructor(error: unknown, { circumstances }: ProgramTransport, isStopped: boolean) {
    const problem = isStopped ? "it took too long to answer" : (error as Error).message.replace(/\.$/, "")
    super(`${problem}. ${circumstances}`)
  }
}

async function createClient(mode: "legacy" | "auto", unasked: Unasked): Promise<Client> {
  const { Client, ProtocolError, ProtocolErrorCode } = await import("@modelcontextprotocol/client")
  const client = new Client(
    { name: "pawl", version: manifest.version },
    {
      // It may ask the person of a call. Beside that it is offered nothing of ours: no model to ask, no folders.
      capabilities: { elicitation: { form: {}, url: {} } },
      inputRequired: { maxRounds: MAX_ROUNDS },
      versionNegotiation: { mode, probe: { timeoutMs: CONNECT_MS / 2 } },
      listMaxPages: MAX_PAGES,
      // Each is heard at once, and asked about only now and then.
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => unasked.listChanged() } },
      // What it promises about its own results is not ours to enforce, and a pattern of a stranger's could run for ever.
      jsonSchemaValidator: {
        getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
      },
    },
  )
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    const answer = await unasked.asks(params)
    if ("unaskable" in answer) throw new ProtocolError(ProtocolErrorCode.InvalidParams, answer.unaskable)
    return { ...answer }
  })
  client.onclose = () => unasked.closed()
  client.onerror = () => {} // what matters of it fails the call that waits
  return client
}

async function openTransport(
  { name, target, isPersons }: McpServer,
  ways: Ways,
  auth: RequestAuth | undefined,
): Promise<Transport> {
  if (target.kind === "program") {
    // Loads the MCP library, which a server without such a tool does not need.
    const { ProgramTransport } = await import("./program-transport.ts")
    return new ProgramTransport(await ways.launch(name, target), answerLimits)
  }
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client")
  const fetch = boundedFetch(isPersons ? ways.guardedFetch : ways.operatorFetch, answerLimits)
  return new StreamableHTTPClientTransport(new URL(target.url), {
    fetch,
    requestInit: { headers: { ...target.headers } },
    ...(auth ? { authProvider: auth } : {}),
    reconnectionOptions: {
      maxRetries: 1,
      initialReconnectionDelay: 1000,
      maxReconnectionDelay: 5000,
      reconnectionDelayGrowFactor: 2,
    },
    reconnectionScheduler: reconnectLater,
  })
}

const MAX = 600

/** What went wrong with a server, in a part of a sentence without its secrets and without what it could hide in it. */
export function problemOf(error: unknown, { secrets }: Pick<McpServer, "secrets">): string {
  const words = [...causes(error)].join(": ")
  return withoutSecrets(plainWords(words).replaceAll(/\s+/g, " "), secrets).slice(0, MAX).replace(/\.$/, "")
}

/** A connection that failed says why in its cause; one that repeats its cause adds only how its library calls things. */
function* causes(error: unknown): Iterable<string> {
  for (let each = error, depth = 0; each instanceof Error && depth < 3; each = each.cause, depth++) {
    const { cause } = each
    const repeats = cause instanceof Error && cause.message !== "" && each.message.includes(cause.message)
    if (!repeats) yield each.message || ((each as NodeJS.ErrnoException).code ?? each.name)
  }
}

const LEAST_MS = 1000
const MAX_MS = 30_000

/**
 * Opens a stream again that its server has ended, after as long as it wants, within these. What a server says goes
 * otherwise: one that wants nothing in between, or more than a timer can count, would have us ask it without a pause.
 */
function reconnectLater(reconnect: () => void, delayMs: number): () => void {
  const timer = setTimeout(reconnect, Math.min(MAX_MS, Math.max(LEAST_MS, delayMs)))
  return () => clearTimeout(timer)
}

/** How often a library wraps what a request has thrown: more than any does. */
const MAX_DEPTH = 5

/**
 * That we do not go to the address of a server, somewhere within what a library has thrown: no server has failed, the address
 * is one that a person has to change, and nothing was sent. One of ours: a server could give an error of its own the same code.
 */
export function refusedAddress(error: unknown): AppError | undefined {
  for (let each = error, depth = 0; each instanceof Error && depth < MAX_DEPTH; each = each.cause, depth++)
    if (each instanceof AppError && each.code === "host_not_allowed") return each
  return undefined
}

/** How one person's requests to one server are allowed. */
export interface RequestAuth extends AuthProvider {
  /** Tokens that were sent, which no result may repeat. */
  readonly secrets: readonly string[]
  /** What an error of a request says of the sign-in, noted; otherwise the error itself. */
  judge(error: unknown): Promise<unknown>
}

const CODES = new Set<string>(["mcp_sign_in_needed", "mcp_sign_in_failed", "mcp_sign_in_not_begun", "mcp_scope_needed"])

/**
 * Says what a person can do about their sign-in, and that the server has refused the request before it began anything. One of
 * ours: a server could give an error of its own the same code.
 */
export const isSignInError = (error: unknown): error is AppError => error instanceof AppError && CODES.has(error.code)
