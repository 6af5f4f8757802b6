import type { AuthProvider, Client, Transport } from "@modelcontextprotocol/client"
import { withoutSecrets } from "../../../engine/calls/tool-end.ts"
import manifest from "../../../package.json" with { type: "json" }
import { AppError } from "../../../protocol/errors.ts"
import type { UserId } from "../../../protocol/ids.ts"
import { type McpServer, plainText, type ProgramTarget } from "../definition/server.ts"
import { answerLimits, boundedFetch, BoundedTransport } from "./bounded-transport.ts"
import type { Launched, ProgramTransport } from "./program-transport.ts"
import type { ServerQuestionAnswer, RefusedQuestion } from "./task-requests.ts"

const CONNECT_MS = 10_000
/** `npx -y` downloads a program before it starts it. */
const DOWNLOAD_MS = 60_000
/** A longer tool list is unusable. */
const MAX_PAGES = 10
/** How often a call may be answered with questions instead of a result. */
const MAX_ROUNDS = 5

/** How servers are reached and programs are launched. */
export interface ConnectionOptions {
  /** For addresses that people entered: each connection is checked. */
  readonly guardedFetch: typeof globalThis.fetch
  /** For the operator's addresses. */
  readonly operatorFetch: typeof globalThis.fetch
  /** Launches the operator's program in its sandbox. Throws if it requires one that is not available. */
  launch(name: string, target: ProgramTarget): Promise<Launched>
  /** Undefined for programs and for servers with an API key: those have no sign-in. */
  authFor(server: McpServer, user: UserId): RequestAuth | undefined
}

/** Callbacks for what a server sends without a request. */
interface ServerCallbacks {
  /** Its tool list changed. */
  listChanged(): void
  closed(): void
  /** It asks the person something. */
  asks(question: unknown): Promise<ServerQuestionAnswer | RefusedQuestion>
}

interface Given {
  readonly callbacks: ServerCallbacks
  /** For servers that may require a sign-in. */
  readonly auth: RequestAuth | undefined
  readonly signal: AbortSignal
}

/** Connects a client to a server. The library is loaded with the first server. */
export async function connect(
  server: McpServer,
  options: ConnectionOptions,
  { callbacks, auth, signal }: Given,
): Promise<Client> {
  const { target } = server
  // Most programs know only the older handshake, and some exit at the newer one.
  const modes = target.kind === "program" ? (["legacy", "auto"] as const) : (["auto"] as const)
  const timeout = target.kind === "program" && target.network ? DOWNLOAD_MS : CONNECT_MS
  let problem: unknown
  for (const mode of modes) {
    const client = await createClient(mode, callbacks)
    const transport = await openTransport(server, options, auth)
    try {
      await client.connect(new BoundedTransport(transport), { signal, timeout })
      return client
    } catch (error) {
      // Before closing, which ends a program that is still running.
      const fault = isOfProgram(transport) ? new ProgramFault(error, transport, signal.aborted) : error
      await client.close().catch(() => {})
      if (signal.aborted) throw fault
      problem ??= fault
    }
  }
  throw problem
}

const isOfProgram = (transport: object): transport is ProgramTransport => "circumstances" in transport

/** Adds the program's error output and sandbox to "Connection closed". */
export class ProgramFault extends Error {
  override readonly name = "ProgramFault"

  constructor(error: unknown, { circumstances }: ProgramTransport, isStopped: boolean) {
    const problem = isStopped ? "it took too long to answer" : (error as Error).message.replace(/\.$/, "")
    super(`${problem}. ${circumstances}`)
  }
}

async function createClient(mode: "legacy" | "auto", callbacks: ServerCallbacks): Promise<Client> {
  const { Client, ProtocolError, ProtocolErrorCode } = await import("@modelcontextprotocol/client")
  const client = new Client(
    { name: "pawl", version: manifest.version },
    {
      // It may ask the person of a call. No other capability is offered: no sampling, no folders.
      capabilities: { elicitation: { form: {}, url: {} } },
      inputRequired: { maxRounds: MAX_ROUNDS },
      versionNegotiation: { mode, probe: { timeoutMs: CONNECT_MS / 2 } },
      listMaxPages: MAX_PAGES,
      // Every notification is delivered; `ListRefresh` limits how often the list is read.
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => callbacks.listChanged() } },
      // Output schemas are the server's affair, and its patterns could run forever.
      jsonSchemaValidator: {
        getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
      },
    },
  )
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    const answer = await callbacks.asks(params)
    if ("unaskable" in answer) throw new ProtocolError(ProtocolErrorCode.InvalidParams, answer.unaskable)
    return { ...answer }
  })
  client.onclose = () => callbacks.closed()
  client.onerror = () => {} // a relevant error also fails the waiting call
  return client
}

async function openTransport(
  { name, target, isPersons }: McpServer,
  options: ConnectionOptions,
  auth: RequestAuth | undefined,
): Promise<Transport> {
  if (target.kind === "program") {
    // Loads the MCP library, which other servers do not need.
    const { ProgramTransport } = await import("./program-transport.ts")
    return new ProgramTransport(await options.launch(name, target), answerLimits)
  }
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client")
  const fetch = boundedFetch(isPersons ? options.guardedFetch : options.operatorFetch, answerLimits)
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

/** A server's error as part of a sentence, without secrets and hidden characters. */
export function problemOf(error: unknown, { secrets }: Pick<McpServer, "secrets">): string {
  const reasons = [...causes(error)].join(": ")
  return withoutSecrets(plainText(reasons).replaceAll(/\s+/g, " "), secrets).slice(0, MAX).replace(/\.$/, "")
}

/** A failed connection has its reason in `cause`. An error that repeats its cause is skipped. */
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
 * Reopens an ended stream after the server's delay, within bounds: a delay of zero, or one that overflows a timer, would
 * cause requests without a pause.
 */
function reconnectLater(reconnect: () => void, delayMs: number): () => void {
  const timer = setTimeout(reconnect, Math.min(MAX_MS, Math.max(LEAST_MS, delayMs)))
  return () => clearTimeout(timer)
}

/** Deeper than any library wraps errors. */
const MAX_DEPTH = 5

/**
 * Finds our refusal of an address inside a library's error: the server did not fail, a person must change the address, and
 * nothing was sent. Must be our class, because a server can send the same code.
 */
export function refusedAddress(error: unknown): AppError | undefined {
  for (let each = error, depth = 0; each instanceof Error && depth < MAX_DEPTH; each = each.cause, depth++)
    if (each instanceof AppError && each.code === "host_not_allowed") return each
  return undefined
}

/** Authorization of one person's requests to one server. */
export interface RequestAuth extends AuthProvider {
  /** Tokens sent to the server. They are removed from results. */
  readonly secrets: readonly string[]
  /** Records what an error means for the sign-in, and returns the error to report. */
  judge(error: unknown): Promise<unknown>
}

const CODES = new Set<string>(["mcp_sign_in_needed", "mcp_sign_in_failed", "mcp_sign_in_not_begun", "mcp_scope_needed"])

/**
 * Whether the error says how the person can sign in; the server refused the request before doing anything. Must be our
 * class, because a server can send the same code.
 */
export const isSignInError = (error: unknown): error is AppError => error instanceof AppError && CODES.has(error.code)
