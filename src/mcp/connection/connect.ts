import type { Client, Transport } from "@modelcontextprotocol/client"
import manifest from "../../../package.json" with { type: "json" }
import type { UserId } from "../../protocol/ids.ts"
import type { McpServer, ProgramTarget } from "../definition/server.ts"
import type { GivenAnswer } from "./questioning-calls.ts"
import { boundedFetch } from "./bounded-fetch.ts"
import { reconnectLater } from "./reconnect-later.ts"
import { CountedTransport } from "./counted-transport.ts"
import { type Launched, ProgramTransport } from "./program-transport.ts"
import type { RequestAuth } from "./request-auth.ts"

/** The largest message that is read: an image of three megabytes, or a very long text. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024
const CONNECT_MS = 10_000
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
export interface Unasked {
  /** Its list of tools is another one now. */
  listChanged(): void
  closed(): void
  /** It wants to know something from the person. */
  asks(asked: unknown): Promise<GivenAnswer>
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
  let problem: unknown
  for (const mode of modes) {
    const client = await createClient(mode, unasked)
    try {
      await client.connect(new CountedTransport(await openTransport(server, ways, auth)), {
        signal,
        timeout: CONNECT_MS,
      })
      return client
    } catch (error) {
      await client.close().catch(() => {})
      if (signal.aborted) throw error
      problem ??= error
    }
  }
  throw problem
}

async function createClient(mode: "legacy" | "auto", unasked: Unasked): Promise<Client> {
  const { Client } = await import("@modelcontextprotocol/client")
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
  client.setRequestHandler("elicitation/create", async ({ params }) => ({ ...(await unasked.asks(params)) }))
  client.onclose = () => unasked.closed()
  client.onerror = () => {} // what matters of it fails the call that waits
  return client
}

async function openTransport(
  { name, target, isPersons }: McpServer,
  ways: Ways,
  auth: RequestAuth | undefined,
): Promise<Transport> {
  if (target.kind === "program") return new ProgramTransport(await ways.launch(name, target), MAX_MESSAGE_BYTES)
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client")
  const fetch = boundedFetch(isPersons ? ways.guardedFetch : ways.operatorFetch, MAX_MESSAGE_BYTES)
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
