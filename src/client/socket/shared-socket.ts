import { ownRoutes } from "../../protocol/routes/own-routes.ts"
import { backOff } from "../back-off.ts"
import { type ClientError, unreachable } from "../client-error.ts"
import { unlessAborted } from "../clock.ts"
import { dial, type Dialled } from "./dial.ts"
import { mayPass, STEADY_MS, type StreamState, type Wait } from "../stream/follow.ts"
import { onPageReturn } from "./on-page-return.ts"
import type { Reader } from "./reader.ts"
import { Retry } from "./retry.ts"
import { type Broken, SocketConnection, type Subscribed } from "./connection.ts"
import { STREAM_SILENCE_MS } from "../stream/stream.ts"
import { label } from "../transport.ts"

/** How the one socket is doing. `idle`: nobody watches anything, so there is none. */
export type ConnectionState = { readonly state: "idle" } | StreamState

/**
 * How long the socket stays open when nobody watches: going from one conversation to the next does not open a second
 * one.
 */
const GRACE_MS = 1000
const WHERE = label("openSocket", ownRoutes.openSocket)
const IDLE: ConnectionState = { state: "idle" }

/** One socket for everything that is watched, one after the other: opened for the first, closed behind the last. */
export class SharedSocket {
  readonly #options: Dialled
  readonly #listeners = new Set<(state: ConnectionState) => void>()
  #state: ConnectionState = IDLE
  /** How many are here, whether they read, wait or connect. */
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

  /** Calls back with each new state; the returned function ends that. */
  onState(listener: (state: ConnectionState) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Registers a watcher; the returned function removes it. The socket stays open while there is one. */
  enter(): () => void {
    this.#followers++
    this.#keep()
    this.#retry?.ring() // somebody wants something now
    this.#stopListening ??= onPageReturn(() => this.retryNow())
    return () => {
      if (--this.#followers > 0) return
      this.#keep = this.#options.transport.clock.alarm(GRACE_MS, () => this.#rest())
    }
  }

  /** A reader on the socket that is open, or on the next one. */
  async subscribe(subscribed: Omit<Subscribed, "worked">): Promise<Reader> {
    const { signal } = subscribed
    await this.#retry?.over(signal)
    const connection = await unlessAborted(this.#open(), signal)
    return connection.subscribe({ ...subscribed, worked: () => (this.#failures = 0) })
  }

  /** What whoever failed has to wait for; undefined while the line is up, so that it was not what failed. */
  wait(signal?: AbortSignal): Wait | undefined {
    const retry = this.#retry
    if (retry) return { ms: retry.leftMs(), over: () => retry.over(signal) }
    return this.#connection ? undefined : { ms: 0, over: () => Promise.resolve() }
  }

  /** Does not wait for the next try. An open socket is asked for a sign of life, and replaced when there is none. */
  retryNow(): void {
    this.#retry?.ring()
    this.#connection?.probe()
  }

  #open(): Promise<SocketConnection> {
    if (this.#connection) return Promise.resolve(this.#connection)
    if (this.#connecting) return this.#connecting.opened
    this.#tell({ state: "connecting" })
    const cut = new AbortController()
    const opened = this.#connect(cut)
    this.#connecting = { opened, cut }
    return opened
  }

  async #connect(cut: AbortController): Promise<SocketConnection> {
    const { clock } = this.#options.transport
    const slow = unreachable(WHERE, `nothing was heard for ${STREAM_SILENCE_MS / 1000} s`)
    const takeBack = clock.alarm(STREAM_SILENCE_MS, () => cut.abort(slow))
    let connection: SocketConnection | undefined
    try {
      const socket = await unlessAborted(dial(this.#options, cut.signal), cut.signal)
      connection = new SocketConnection(socket, clock, (broken) => {
        if (connection && this.#connection === connection) this.#fail(broken)
      })
      await unlessAborted(connection.opened, cut.signal)
      cut.signal.throwIfAborted()
      if (connection.broken) throw connection.broken // opened and closed in one breath
      this.#connection = connection
      this.#since = clock.now()
      this.#tell({ state: "live" })
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
    // A refusal is for those who wait; who comes later asks again.
    if (!mayPass(error) || this.#followers === 0) return this.#tell(IDLE)
    const failures = ++this.#failures
    const askedMs = error.retryAfterMs
    const retryInMs = inGoodOrder && failures === 1 ? 0 : backOff({ failures, askedMs, random })
    const retry = new Retry(clock, retryInMs)
    this.#retry = retry
    retry.over().then(
      () => this.#tryAgain(retry),
      () => {},
    )
    this.#tell({ state: "waiting", retryInMs, error })
  }

  #tryAgain(retry: Retry): void {
    if (this.#retry !== retry) return
    this.#retry = undefined
    if (this.#followers === 0) return // the last one has just left
    // Also where those who are here are busy elsewhere: what they will read next should be on its way.
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
    connecting?.cut.abort(unreachable(WHERE, "nobody waits for it any more"))
    this.#tell(IDLE)
  }

  #tell(state: ConnectionState): void {
    if (state === this.#state) return
    this.#state = state
    for (const listener of this.#listeners) listener(state)
  }
}
