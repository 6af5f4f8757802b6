import { hasCode } from "../../protocol/errors.ts"
import type { UnknownFrame } from "../../protocol/frames.ts"
import { backOff } from "../back-off.ts"
import { ClientError, unexpected } from "../client-error.ts"
import { sleepOrAbort } from "../clock.ts"
import type { StreamPosition } from "./stream-position.ts"
import type { Transport } from "../transport.ts"

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

/** As much of a stream as one connection brings. */
export interface OpenFrames {
  /** Ends when the server ends it in good order; fails with `unreachable` when it breaks. */
  readonly frames: AsyncIterable<UnknownFrame>
  /** What the stream's `retry:` asked for, so far. */
  retryMs?(): number | undefined
  /** To be told when something new has come by it. */
  worked?(): void
  /** Lets go of the connection, or of its part in it. */
  close(): void
}

/** A pause before the next try. */
export interface Wait {
  readonly ms: number
  over(): Promise<void>
}

export interface FollowedStream extends FollowOptions {
  /** How an error names the stream. */
  readonly where: string
  /** What goes on after what has been seen. */
  open(): Promise<OpenFrames>
  /** The pause of a connection that is shared with other streams, where that is what failed. */
  sharedWait?(): Wait | undefined
  /** What has been seen; tells new frames from repeated ones. None for a stream that begins anew each time. */
  readonly place?: StreamPosition | undefined
}

/** A connection that has lived so long was a good one, though nothing may have happened on it. */
export const STEADY_MS = 10_000

/** A gap, or data that is no JSON, may be the fault of one connection; met this often in a row it is the server's. */
const MAX_BROKEN = 3

/**
 * The frames of a stream, over as many connections as it takes: each goes on after the last frame that was seen.
 * Refusals end it, and so does the signal, with its reason.
 */
export async function* followStream(
  { clock, random }: Pick<Transport, "clock" | "random">,
  followed: FollowedStream,
): AsyncGenerator<UnknownFrame, void, undefined> {
  const { place, signal, onState, tries = Number.POSITIVE_INFINITY } = followed
  let [failures, broken] = [0, 0]
  let firstMs: number | undefined
  for (;;) {
    signal?.throwIfAborted()
    onState?.({ state: "connecting" })
    const since = clock.now()
    let error: ClientError | undefined
    let stream: OpenFrames | undefined
    try {
      stream = await followed.open()
      onState?.({ state: "live" })
      for await (const frame of stream.frames) {
        const fresh = place ? place.take(frame) : frame
        if (!fresh) continue
        // Without a place it may be the same again, and a server that says it and hangs up must not be asked in a circle.
        if (place) {
          failures = broken = 0
          stream.worked?.()
        }
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
    firstMs = stream?.retryMs?.() ?? firstMs
    if (stream && clock.now() - since >= STEADY_MS) failures = broken = 0
    failures++
    if (failures >= tries) throw error ?? unexpected(followed.where, "the stream ends as soon as it begins")
    // A server that goes down in good order has said so by ending the stream: the next one is there already.
    const atOnce = error === undefined && failures === 1
    const askedMs = error?.retryAfterMs
    const ownMs = atOnce ? 0 : backOff({ failures, firstMs, askedMs, random })
    const own: Wait = { ms: ownMs, over: () => sleepOrAbort(clock, ownMs, signal) }
    const wait = followed.sharedWait?.() ?? own
    onState?.({ state: "waiting", retryInMs: wait.ms, ...(error === undefined ? {} : { error }) })
    if (wait.ms > 0) await wait.over()
  }
}

/** Whether the next try may do better: not where the server has understood the request and refuses it. */
export function mayPass(error: unknown): error is ClientError {
  if (!(error instanceof ClientError)) return false
  if (error.code === "unreachable") return true
  const { status } = error
  return status >= 500 || status === 408 || status === 425 || status === 429
}
