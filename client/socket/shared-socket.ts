import { ownRoutes } from "../../core/protocol/routes/own-routes.ts"
import { backOff } from "../back-off.ts"
import type { Calls } from "../calls.ts"
import { type ClientError, unreachable } from "../client-error.ts"
import { type ClientClock, unlessAborted } from "../clock.ts"
import { STEADY_MS, type StreamState, type Wait, canRetry } from "../stream/follow.ts"
import { STREAM_SILENCE_MS } from "../stream/stream.ts"
import { type Transport, label } from "../transport.ts"
import { type Broken, type PlainSocket, SocketConnection, type Subscribed } from "./connection.ts"
import type { Reader } from "./reader.ts"

/** The state of the shared socket. `idle`: there is no stream, so it is closed. */
export type ConnectionState = { readonly state: "idle" } | StreamState

/** How long the socket stays open without streams, so that switching conversations does not reconnect. */
const GRACE_MS = 1000
const WHERE = label("openSocket", ownRoutes.openSocket)
const IDLE: ConnectionState = { state: "idle" }

/** One socket for all streams: opened for the first, closed after the last. */
export class SharedSocket {
  readonly #options: Dialled
  readonly #listeners = new Set<(state: ConnectionState) => void>()
  #state: ConnectionState = IDLE
  /** The number of streams, whether they read, wait or connect. */
  #followers = 0
  #connection: SocketConnection | undefined
  #since = 0
  #connecting: { readonly opened: Promise<SocketConnection>; readonly cut: AbortController } | undefined
  #failures = 0
  #retry: Retry | undefined
  #keep: () => void = () => {}
  #stopListening: (() => void) | undefined

  constructor(options: Dialled) {
    this.#options = options
  }

  get state(): ConnectionState {
    return this.#state
  }

  /** Calls the listener with each new state. Returns a function that removes it. */
  onState(listener: (state: ConnectionState) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Registers a stream. Returns a function that removes it. The socket stays open while there is one. */
  enter(): () => void {
    this.#followers++
    this.#keep()
    this.#retry?.ring() // a stream is waiting
    this.#stopListening ??= onPageReturn(() => this.retryNow())
    return () => {
      if (--this.#followers > 0) return
      this.#keep = this.#options.transport.clock.alarm(GRACE_MS, () => this.#rest())
    }
  }

  /** Subscribes on the open socket, or on the next one. */
  async subscribe(subscribed: Omit<Subscribed, "onProgress">): Promise<Reader> {
    const { signal } = subscribed
    await this.#retry?.over(signal)
    const connection = await unlessAborted(this.#open(), signal)
    return connection.subscribe({ ...subscribed, onProgress: () => (this.#failures = 0) })
  }

  /**
   * Returns the wait before the next attempt; undefined while the socket is connected, because the failure then has
   * another cause.
   */
  wait(signal?: AbortSignal): Wait | undefined {
    const retry = this.#retry
    if (retry) return { ms: retry.leftMs(), over: () => retry.over(signal) }
    return this.#connection ? undefined : { ms: 0, over: () => Promise.resolve() }
  }

  /** Reconnects without waiting for the next attempt. An open socket is pinged, and replaced if it does not answer. */
  retryNow(): void {
    this.#retry?.ring()
    this.#connection?.probe()
  }

  #open(): Promise<SocketConnection> {
    if (this.#connection) return Promise.resolve(this.#connection)
    if (this.#connecting) return this.#connecting.opened
    this.#notify({ state: "connecting" })
    const cut = new AbortController()
    const opened = this.#connect(cut)
    this.#connecting = { opened, cut }
    return opened
  }

  async #connect(cut: AbortController): Promise<SocketConnection> {
    const { clock } = this.#options.transport
    const slow = unreachable(WHERE, `no data arrived for ${STREAM_SILENCE_MS / 1000} s`)
    const takeBack = clock.alarm(STREAM_SILENCE_MS, () => cut.abort(slow))
    let connection: SocketConnection | undefined
    try {
      const socket = await unlessAborted(dial(this.#options, cut.signal), cut.signal)
      connection = new SocketConnection(socket, clock, (broken) => {
        if (connection && this.#connection === connection) this.#fail(broken)
      })
      await unlessAborted(connection.opened, cut.signal)
      cut.signal.throwIfAborted()
      if (connection.broken) throw connection.broken // opened and closed at once
      this.#connection = connection
      this.#since = clock.now()
      this.#notify({ state: "live" })
      return connection
    } catch (error) {
      connection?.close()
      if (this.#connecting?.cut === cut) this.#fail({ error: error as ClientError, inGoodOrder: false })
      throw error
    } finally {
      takeBack()
      if (this.#connecting?.cut === cut) this.#connecting = undefined
    }
  }

  #fail({ error, inGoodOrder }: Broken): void {
    const { clock, random } = this.#options.transport
    if (this.#connection && clock.now() - this.#since >= STEADY_MS) this.#failures = 0
    this.#connection = undefined
    // A refusal concerns the waiting streams; a later one tries again.
    if (!canRetry(error) || this.#followers === 0) return this.#notify(IDLE)
    const failures = ++this.#failures
    const askedMs = error.retryAfterMs
    const retryInMs = inGoodOrder && failures === 1 ? 0 : backOff({ failures, askedMs, random })
    const retry = new Retry(clock, retryInMs)
    this.#retry = retry
    retry.over().then(
      () => this.#tryAgain(retry),
      () => {},
    )
    this.#notify({ state: "waiting", retryInMs, error })
  }

  #tryAgain(retry: Retry): void {
    if (this.#retry !== retry) return
    this.#retry = undefined
    if (this.#followers === 0) return // the last stream just ended
    // Also if no stream is reading at the moment: what they read next should be on its way.
    this.#open().catch(() => {})
  }

  #rest(): void {
    this.#stopListening?.()
    this.#stopListening = undefined
    this.#retry?.cancel()
    this.#retry = undefined
    this.#failures = 0
    const [connection, connecting] = [this.#connection, this.#connecting]
    this.#connection = undefined
    this.#connecting = undefined
    connection?.close()
    connecting?.cut.abort(unreachable(WHERE, "it is no longer needed"))
    this.#notify(IDLE)
  }

  #notify(state: ConnectionState): void {
    if (state === this.#state) return
    this.#state = state
    for (const listener of this.#listeners) listener(state)
  }
}

/** A wait before the next attempt, shared by all streams; each of them may end it early. */
class Retry {
  readonly #clock: ClientClock
  readonly #at: number
  readonly #over: Promise<void>
  #takeBack: () => void = () => {}
  #ring: () => void = () => {}

  constructor(clock: ClientClock, ms: number) {
    this.#clock = clock
    this.#at = clock.now() + ms
    this.#over = new Promise((resolve) => (this.#ring = resolve))
    if (ms > 0) this.#takeBack = clock.alarm(ms, () => this.#ring())
    else this.#ring()
  }

  leftMs(): number {
    return Math.max(0, this.#at - this.#clock.now())
  }

  /** Resolves when the wait ends; rejects with the signal's reason. */
  over(signal?: AbortSignal): Promise<void> {
    return unlessAborted(this.#over, signal)
  }

  ring(): void {
    this.#takeBack()
    this.#ring()
  }

  /** Cancels the timer; it never resolves. */
  cancel(): void {
    this.#takeBack()
  }
}

export type SocketConstructor = new (url: string, protocols: string[]) => PlainSocket

interface Dialled {
  readonly transport: Transport
  readonly calls: Pick<Calls, "createTicket">
  /** Default: the platform's. */
  readonly WebSocket?: SocketConstructor | undefined
}

/**
 * Opens a socket with a ticket, because the platform's WebSocket cannot send headers, neither in a page nor in Node. If the
 * server refuses the caller, the request for the ticket fails with a status; a WebSocket only reports that it failed.
 */
async function dial(
  { transport, calls, WebSocket = globalThis.WebSocket }: Dialled,
  signal: AbortSignal,
): Promise<PlainSocket> {
  const { ticket } = await calls.createTicket({ signal })
  signal.throwIfAborted()
  return new WebSocket(transport.socketUrl(ownRoutes.openSocket.path), [`pawl.ticket.${ticket}`])
}

interface Emitter {
  addEventListener?(type: string, listener: () => void): void
  removeEventListener?(type: string, listener: () => void): void
}

/**
 * Calls `back` when a page may have been suspended or offline and is back: its network returned, or it became visible.
 * Does nothing outside a page. Returns a function that removes the listener.
 */
export function onPageReturn(back: () => void): () => void {
  const page = globalThis as Emitter & { document?: Emitter & { visibilityState?: string } }
  const { document } = page
  const seen = () => {
    if (document?.visibilityState === "visible") back()
  }
  page.addEventListener?.("online", back)
  document?.addEventListener?.("visibilitychange", seen)
  return () => {
    page.removeEventListener?.("online", back)
    document?.removeEventListener?.("visibilitychange", seen)
  }
}
