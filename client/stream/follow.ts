import { hasCode } from "../../core/protocol/errors.ts"
import type { UnknownFrame } from "../../core/protocol/frames.ts"
import { backOff } from "../back-off.ts"
import { ClientError, unexpected } from "../client-error.ts"
import { sleepOrAbort } from "../clock.ts"
import type { StreamPosition } from "./stream-position.ts"
import type { Transport } from "../transport.ts"

/** The state of a stream's connection to the server. */
export type StreamState =
  | { readonly state: "connecting" }
  | { readonly state: "live" }
  /** Reconnects in `retryInMs`. `error` is the cause, unless the server ended the stream normally. */
  | { readonly state: "waiting"; readonly retryInMs: number; readonly error?: unknown }

/** Options of every stream: a signal to stop, a callback for the connection's state, and a limit on retries. */
export interface FollowOptions {
  readonly signal?: AbortSignal | undefined
  readonly onState?: ((state: StreamState) => void) | undefined
  /** How many attempts in a row may fail before the stream throws. Default: no limit. */
  readonly tries?: number | undefined
}

/** The frames of a stream that one connection delivers. */
export interface FrameConnection {
  /** Ends when the server ends it; throws `unreachable` when the connection is lost. */
  readonly frames: AsyncIterable<UnknownFrame>
  /** The latest `retry:` value of the stream. */
  retryMs?(): number | undefined
  /** Reports that a new frame was received. */
  onProgress?(): void
  /** Closes the connection, or the stream's share of it. */
  close(): void
}

/** A wait before the next attempt. */
export interface Wait {
  readonly ms: number
  over(): Promise<void>
}

interface FollowedStream extends FollowOptions {
  /** The name of the stream in errors. */
  readonly where: string
  /** Opens a connection that continues after the last frame. */
  open(): Promise<FrameConnection>
  /** The wait of a shared connection, if that is what failed. */
  sharedWait?(): Wait | undefined
  /**
   * The position, which distinguishes new frames from repeated ones. Undefined for a stream that starts over with each
   * connection.
   */
  readonly place?: StreamPosition | undefined
}

/** A connection that lasted this long counts as stable, even without frames. */
export const STEADY_MS = 10_000

/** A gap or invalid data may be the fault of one connection. This many in a row are the server's fault. */
const MAX_BROKEN = 3

/**
 * Yields the frames of a stream and reconnects after the last frame if the connection is lost. Throws if the server
 * rejects the request, or with the signal's reason.
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
    let stream: FrameConnection | undefined
    try {
      stream = await followed.open()
      onState?.({ state: "live" })
      for await (const frame of stream.frames) {
        const fresh = place ? place.take(frame) : frame
        if (!fresh) continue
        // Without a position frames may repeat, and a server that sends one and hangs up must not be asked in a loop.
        if (place) {
          failures = broken = 0
          stream.onProgress?.()
        }
        yield fresh
      }
    } catch (thrown) {
      signal?.throwIfAborted()
      if (hasCode(thrown, "unexpected_answer") && ++broken >= MAX_BROKEN) throw thrown
      if (!canRetry(thrown)) throw thrown
      error = thrown
    } finally {
      stream?.close()
    }
    firstMs = stream?.retryMs?.() ?? firstMs
    if (stream && clock.now() - since >= STEADY_MS) failures = broken = 0
    failures++
    if (failures >= tries) throw error ?? unexpected(followed.where, "the stream ends as soon as it begins")
    // A server that shuts down ends its streams normally: another one is ready.
    const atOnce = error === undefined && failures === 1
    const askedMs = error?.retryAfterMs
    const ownMs = atOnce ? 0 : backOff({ failures, firstMs, askedMs, random })
    const own: Wait = { ms: ownMs, over: () => sleepOrAbort(clock, ownMs, signal) }
    const wait = followed.sharedWait?.() ?? own
    onState?.({ state: "waiting", retryInMs: wait.ms, ...(error === undefined ? {} : { error }) })
    if (wait.ms > 0) await wait.over()
  }
}

/** Returns true if a retry may succeed: false if the server understood and rejected the request. */
export function canRetry(error: unknown): error is ClientError {
  if (!(error instanceof ClientError)) return false
  if (error.code === "unreachable") return true
  const { status } = error
  return status >= 500 || status === 408 || status === 425 || status === 429
}
