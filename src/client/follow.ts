import { hasCode } from "../protocol/errors.ts"
import type { UnknownFrame } from "../protocol/frames.ts"
import { backOff } from "./back-off.ts"
import { ClientError, unexpected } from "./client-error.ts"
import { pause } from "./clock.ts"
import type { Place } from "./place.ts"
import type { StreamEvent } from "./sse-parser.ts"
import { type OpenStream, openStream, type StreamSource } from "./stream.ts"
import { label, type Transport } from "./transport.ts"

/** How a stream is doing, for whoever shows it. */
export type StreamState =
  | { readonly state: "connecting" }
  | { readonly state: "live" }
  /** Trying again in `retryInMs`; `error` is why, unless the server ended the stream in good order. */
  | { readonly state: "waiting"; readonly retryInMs: number; readonly error?: unknown }

export interface FollowOptions {
  readonly signal?: AbortSignal | undefined
  readonly onState?: ((state: StreamState) => void) | undefined
  /** How many tries in a row may fail before the failure is told; without end by default. */
  readonly tries?: number | undefined
}

export interface Followed extends FollowOptions {
  /** The request that goes on after what has been seen. */
  source(): StreamSource
  /** What has been seen; tells new frames from repeated ones. None for a stream that begins anew each time. */
  readonly place?: Place
}

/** A connection that has lived so long was a good one, though nothing may have happened on it. */
const STEADY_MS = 10_000

/** A gap, or data that is no JSON, may be the fault of one connection; met this often in a row it is the server's. */
const MAX_BROKEN = 3

/**
 * The frames of a stream, over as many connections as it takes: each goes on after the last frame that was seen.
 * Refusals end it, and so does the signal, with its reason.
 */
export async function* follow(transport: Transport, followed: Followed): AsyncGenerator<UnknownFrame, void, undefined> {
  const { place, signal, onState, tries = Number.POSITIVE_INFINITY } = followed
  const { clock, random } = transport
  let [failures, broken] = [0, 0]
  let firstMs: number | undefined
  for (;;) {
    onState?.({ state: "connecting" })
    const source = followed.source()
    const since = clock.now()
    let error: ClientError | undefined
    let stream: OpenStream | undefined
    try {
      stream = await connect(transport, source)
      onState?.({ state: "live" })
      for await (const event of stream.events) {
        const frame = toFrame(event, source)
        const fresh = place ? place.take(frame) : frame
        if (!fresh) continue
        // Without a place it may be the same again, and a server that says it and hangs up must not be asked in a circle.
        if (place) failures = broken = 0
        yield fresh
      }
    } catch (thrown) {
      signal?.throwIfAborted()
      if (hasCode(thrown, "unexpected_answer") && ++broken >= MAX_BROKEN) throw thrown
      if (!mayPass(thrown)) throw thrown
      error = thrown
    } finally {
      stream?.close()
    }
    firstMs = stream?.retryMs() ?? firstMs
    if (stream && clock.now() - since >= STEADY_MS) failures = broken = 0
    failures++
    if (failures >= tries) throw error ?? ended(source)
    // A server that goes down in good order has said so by ending the stream: the next one is there already.
    const atOnce = error === undefined && failures === 1
    const askedMs = error?.retryAfterMs
    const retryInMs = atOnce ? 0 : backOff({ failures, firstMs, askedMs, random })
    onState?.({ state: "waiting", retryInMs, ...(error === undefined ? {} : { error }) })
    if (retryInMs > 0) await pause(clock, retryInMs, signal)
  }
}

const ended = ({ name, route }: StreamSource) => unexpected(label(name, route), "the stream ends as soon as it begins")

async function connect(transport: Transport, source: StreamSource): Promise<OpenStream> {
  const opened = await openStream(transport, source)
  if ("events" in opened) return opened
  const type = opened.headers.get("content-type") ?? "nothing"
  opened.body?.cancel().catch(() => {}) // nobody will read it
  throw unexpected(label(source.name, source.route), `status ${opened.status} with ${type} where a stream was expected`)
}

function toFrame({ id, type, data }: StreamEvent, { name, route }: StreamSource): UnknownFrame {
  try {
    return { id, type, data: JSON.parse(data) as unknown }
  } catch (cause) {
    throw unexpected(label(name, route), `the data of a ${type} is not JSON`, { cause })
  }
}

/** Whether the next try may do better: not where the server has understood the request and refuses it. */
function mayPass(error: unknown): error is ClientError {
  if (!(error instanceof ClientError)) return false
  if (error.code === "unreachable") return true
  const { status } = error
  return status >= 500 || status === 408 || status === 425 || status === 429
}
