import { Agent as HttpAgent, type AgentOptions, type IncomingMessage, request as httpRequest } from "node:http"
import { Agent as HttpsAgent, request as httpsRequest } from "node:https"
import { Readable } from "node:stream"
import { AppError, failure } from "../../protocol/errors.ts"
import type { OutboundPolicy } from "./outbound-policy.ts"

type Fetch = typeof globalThis.fetch

/** `Response` requires that these statuses have no body. */
const BODILESS = new Set([101, 103, 204, 205, 304])

/**
 * A `fetch` for addresses that people provided. Node's own connects to whatever a name resolves to; this one connects
 * only to addresses that `OutboundPolicy` has checked. It supports what adapters need: it sends text, streams the
 * response, and never follows a redirect.
 */
export function guardedFetch(policy: OutboundPolicy): Fetch {
  return fetchOver(createGuardedSend(policy))
}

type Send = (url: URL, sent: OutgoingRequest) => Promise<IncomingMessage>

/** A `fetch` that sends its requests with this function. */
export function fetchOver(send: Send): Fetch {
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : String(input))
    const { body = null, signal, method = "GET" } = init
    if (body !== null && typeof body !== "string") throw new TypeError("Only texts can be sent to this address.")
    const headers = Object.fromEntries(new Headers(init.headers))
    const response = await send(url, { method, headers, body, ...(signal ? { signal } : {}) }).catch(
      (error: unknown) => {
        // Like Node's own error, so that adapters recognize a network failure.
        throw error instanceof AppError || signal?.aborted ? error : new TypeError("fetch failed", { cause: error })
      },
    )
    return toResponse(response, url)
  }
}

export interface OutgoingRequest {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body: string | null
  readonly signal?: AbortSignal
  /** The operator chose this host, so DNS errors may be shown. */
  readonly isOperators?: boolean
}

/**
 * One request without redirects: a caller that follows one makes a new request, which is checked again. Never through a
 * proxy, which would resolve names itself and bypass the check.
 */
export function createGuardedSend(policy: OutboundPolicy): Send {
  const agents = createAgents()
  return async (url, { isOperators = false, ...sent }) => {
    policy.checkAddress(url.hostname)
    return sendOver(agents, url, { ...sent, lookup: (isOperators ? policy.lookupForOperator : policy.lookup) as never })
  }
}

interface Agents {
  readonly http: HttpAgent
  readonly https: HttpsAgent
}

export const createAgents = (options: AgentOptions = {}): Agents => ({
  http: new HttpAgent({ keepAlive: true, ...options }),
  https: new HttpsAgent({ keepAlive: true, ...options }),
})

export function sendOver(
  agents: Agents,
  url: URL,
  { body, ...sent }: OutgoingRequest & { readonly lookup?: never },
): Promise<IncomingMessage> {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const sending =
      url.protocol === "https:"
        ? httpsRequest(url, { ...sent, agent: agents.https })
        : httpRequest(url, { ...sent, agent: agents.http })
    sending.on("response", resolve)
    sending.on("error", reject)
    sending.end(body ?? undefined)
  })
}

function toResponse(message: IncomingMessage, { host }: URL): Response {
  const { statusCode: status = 502, statusMessage: statusText = "" } = message
  if (status >= 300 && status < 400 && status !== 304) {
    message.destroy()
    throw failure("provider_error", { provider: host, problem: "it answered with a redirect, which is not followed" })
  }
  const headers = new Headers()
  for (const [name, value] of Object.entries(message.headers)) {
    for (const each of [value ?? []].flat()) headers.append(name, each)
  }
  const body = BODILESS.has(status) ? null : (Readable.toWeb(message) as ReadableStream<Uint8Array>)
  if (!body) message.resume()
  return new Response(body, { status, statusText, headers })
}
