import type { Route } from "../../core/protocol/routes/route.ts"
import { toClientError, unexpected, unreachable } from "../client-error.ts"
import type { ClientClock } from "../clock.ts"
import { EventParser, type StreamEvent } from "./sse-parser.ts"
import { label, type RequestParts, type Transport } from "../transport.ts"

/** The server sends something at least every 15 s: after three missing comments the connection is dead. */
export const STREAM_SILENCE_MS = 45_000

export interface OpenStream {
  /** The events as they arrive. Ends when the server ends it normally; throws `unreachable` when the connection breaks. */
  readonly events: AsyncGenerator<StreamEvent, void, undefined>
  /** The latest `retry:` value. */
  retryMs(): number | undefined
  /** Closes the connection, even while it is being opened. */
  close(): void
}

export interface StreamSource {
  readonly name: string
  readonly route: Route
  readonly sent: RequestParts
}

/** Opens a stream of events. Returns a response of another type unchanged; throws errors. */
export async function openStream(transport: Transport, source: StreamSource): Promise<OpenStream | Response> {
  const { name, route, sent } = source
  const where = label(name, route)
  const cut = new AbortController()
  const signal = sent.signal ? AbortSignal.any([sent.signal, cut.signal]) : cut.signal
  const headers = { ...sent.headers, accept: "text/event-stream" }
  const limit = { clock: transport.clock, signal, where }
  try {
    const response = await unlessSilent(transport.send(name, route, { ...sent, headers, signal }), limit)
    if (response.status >= 400) throw await unlessSilent(toClientError(where, response, transport.clock.now()), limit)
    if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return response
    if (!response.body) throw unexpected(where, "the stream has no body")
    const parser = new EventParser()
    const events = read(response.body, parser, limit)
    return { events, retryMs: () => parser.retryMs, close: () => cut.abort() }
  } catch (error) {
    cut.abort()
    sent.signal?.throwIfAborted()
    throw error
  }
}

interface Limit {
  readonly clock: ClientClock
  readonly signal: AbortSignal
  readonly where: string
}

async function* read(
  body: ReadableStream<Uint8Array>,
  parser: EventParser,
  limit: Limit,
): AsyncGenerator<StreamEvent, void, undefined> {
  const reader = body.getReader()
  const broken = (error: unknown) => {
    throw unreachable(limit.where, error)
  }
  try {
    for (;;) {
      // Only while waiting: a slow consumer is not the server's silence.
      const { done, value } = await unlessSilent(reader.read().catch(broken), limit)
      if (done) return
      yield* push(parser, value, limit.where)
    }
  } finally {
    reader.cancel().catch(() => {}) // already broken or aborted
  }
}

function push(parser: EventParser, bytes: Uint8Array, where: string): StreamEvent[] {
  try {
    return parser.push(bytes)
  } catch (cause) {
    throw unexpected(where, (cause as Error).message, { cause })
  }
}

/** Waits for a promise, until the signal aborts or the server is silent for too long. */
function unlessSilent<Value>(wait: Promise<Value>, { clock, signal, where }: Limit): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = () => settle(() => reject(signal.reason as Error))
    const cancel = clock.alarm(STREAM_SILENCE_MS, () =>
      settle(() => reject(unreachable(where, `no data arrived for ${STREAM_SILENCE_MS / 1000} s`))),
    )
    const settle = (how: () => void) => {
      cancel()
      signal.removeEventListener("abort", stop)
      how()
    }
    signal.addEventListener("abort", stop, { once: true })
    wait.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(signal.aborted ? signal.reason : error)),
    )
  })
}
