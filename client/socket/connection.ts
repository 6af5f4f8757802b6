import { type ClientFrame, CLOSE, ErrorFrame, EventFrame } from "../../core/protocol/socket.ts"
import { isBefore, toCursor } from "../../core/protocol/cursor.ts"
import { type ClientError, refused, unexpected, unreachable } from "../client-error.ts"
import type { ClientClock } from "../clock.ts"
import type { StreamPosition } from "../stream/stream-position.ts"
import { Reader } from "./reader.ts"
import { STREAM_SILENCE_MS } from "../stream/stream.ts"

/** The methods of a WebSocket that are used, of the platform or of `ws`. */
export interface PlainSocket {
  send(text: string): void
  close(code?: number, reason?: string): void
  addEventListener(type: "open" | "error", listener: () => void): void
  addEventListener(type: "close", listener: (event: { readonly code: number; readonly reason: string }) => void): void
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void
}

/** How long to wait for the answer to a ping before the connection counts as dead. */
export const PROBE_MS = 5000
const WHERE = "openSocket (GET /api/ws)"

export interface Subscribed {
  /** Undefined for the feed. */
  readonly id?: string | undefined
  readonly place?: StreamPosition | undefined
  readonly signal?: AbortSignal | undefined
  onProgress(): void
}

/** Why a connection ended. */
export interface Broken {
  readonly error: ClientError
  /** The server closed it normally: the next attempt need not wait. */
  readonly inGoodOrder: boolean
}

/**
 * An open socket and its readers. A conversation is attached once; a later reader attaches it again from further back, and
 * each reader's position skips what it has seen.
 */
export class SocketConnection {
  readonly #socket: PlainSocket
  readonly #clock: ClientClock
  readonly #readers = new Map<string | undefined, Set<Reader>>()
  /** Everything that was ever attached: frames of an earlier attachment may still arrive. */
  readonly #attached = new Set<string | undefined>()
  readonly #closed: (broken: Broken) => void
  #takeBack: () => void
  #probing: (() => void) | undefined
  /** An error without an id, which precedes a close. */
  #complaint: ClientError | undefined
  #broken: ClientError | undefined
  #neverOpened: (error: ClientError) => void = () => {}
  /** Resolves when the socket is open; rejects if it closes first. */
  readonly opened: Promise<this>

  constructor(socket: PlainSocket, clock: ClientClock, closed: (broken: Broken) => void) {
    this.#socket = socket
    this.#clock = clock
    this.#closed = closed
    this.#takeBack = clock.alarm(STREAM_SILENCE_MS, () => this.#silent(STREAM_SILENCE_MS))
    this.opened = new Promise((resolve, reject) => {
      socket.addEventListener("open", () => resolve(this))
      this.#neverOpened = reject
    })
    this.opened.catch(() => {}) // handled by the caller
    socket.addEventListener("close", ({ code, reason }) => this.#close(code, reason))
    socket.addEventListener("error", () => {}) // "close" follows with the details
    socket.addEventListener("message", ({ data }) => this.#hear(data))
  }

  /** Why it ended; undefined while it is open. */
  get broken(): ClientError | undefined {
    return this.#broken
  }

  subscribe({ id, place, signal, onProgress: worked }: Subscribed): Reader {
    const readers = this.#readers.get(id) ?? new Set()
    const until = this.#attached.has(id) ? this.#clock.now() + STREAM_SILENCE_MS : 0
    const reader: Reader = new Reader({
      place,
      signal,
      onProgress: worked,
      joins: () => this.#clock.now() < until,
      left: () => this.#leave(id, reader),
    })
    if (this.#broken) {
      reader.end(this.#broken)
      return reader
    }
    this.#readers.set(id, readers.add(reader))
    this.#attached.add(id)
    const from = [...readers].map(({ at }) => at).reduce((one, other) => (isBefore(other, one) ? other : one))
    const conversation = id === undefined ? {} : { conversationId: id, after: toCursor(from) }
    this.#send({ type: "attach", ...conversation } as ClientFrame)
    return reader
  }

  /** Pings the server: after a sleep the platform may not have noticed that the connection is dead. */
  probe(): void {
    if (this.#probing || this.#broken) return
    this.#probing = this.#clock.alarm(PROBE_MS, () => this.#silent(PROBE_MS))
    this.#send({ type: "ping" })
  }

  /** Closes an unneeded or faulty connection; its readers get the error. */
  close(error: ClientError = unreachable(WHERE, "closed")): void {
    this.#end(error, false)
    this.#socket.close(1000)
  }

  #hear(data: unknown): void {
    if (this.#broken) return
    this.#takeBack()
    this.#takeBack = this.#clock.alarm(STREAM_SILENCE_MS, () => this.#silent(STREAM_SILENCE_MS))
    this.#probing?.()
    this.#probing = undefined
    try {
      this.#read(data)
    } catch (error) {
      this.close(error as ClientError)
    }
  }

  #read(data: unknown): void {
    const frame = toJson(data)
    if (frame.type === "event") {
      const { conversationId, event } = parse(EventFrame, frame)
      const readers = this.#readers.get(conversationId) ?? []
      for (const reader of readers) reader.hear(event, (data as string).length)
    } else if (frame.type === "error") {
      const { id, code, message } = parse(ErrorFrame, frame)
      const error = refused(code, message)
      if (id === undefined) this.#complaint = error
      // The attachment ended; a reader that reconnects attaches again.
      for (const reader of this.#readers.get(id) ?? []) reader.end(error)
    }
  }

  #leave(id: string | undefined, reader: Reader): void {
    const readers = this.#readers.get(id)
    if (!readers?.delete(reader) || readers.size > 0) return
    this.#readers.delete(id)
    this.#send({ type: "detach", ...(id === undefined ? {} : { conversationId: id }) } as ClientFrame)
  }

  #send(frame: ClientFrame): void {
    if (!this.#broken) this.#socket.send(JSON.stringify(frame))
  }

  #silent(ms: number): void {
    this.close(unreachable(WHERE, `no data arrived for ${ms / 1000} s`))
  }

  #close(code: number, reason: string): void {
    const why = unreachable(WHERE, [`the socket was closed`, code, reason].filter((part) => part !== "").join(", "))
    // The server refused our frame, and would refuse it again.
    const error = code === CLOSE.badFrame && this.#complaint ? this.#complaint : why
    // If the credential was revoked, the next request for a ticket fails with that reason.
    this.#end(error, code === CLOSE.goingDown || code === CLOSE.revoked || code === 1000)
  }

  #end(error: ClientError, inGoodOrder: boolean): void {
    if (this.#broken) return
    this.#broken = error
    this.#takeBack()
    this.#probing?.()
    this.#neverOpened(error)
    this.#closed({ error, inGoodOrder })
    for (const reader of [...this.#readers.values()].flatMap((readers) => [...readers])) reader.end(error)
  }
}

function toJson(data: unknown): { readonly type?: unknown } {
  try {
    return Object(JSON.parse(String(data))) as { type?: unknown }
  } catch (cause) {
    throw unexpected(WHERE, "a frame is not JSON", { cause })
  }
}

function parse<Value>(
  schema: { safeParse(value: unknown): { data?: Value; error?: unknown } },
  frame: { readonly type?: unknown },
): Value {
  const { data, error } = schema.safeParse(frame)
  if (data === undefined) throw unexpected(WHERE, `this is no ${String(frame.type)}`, { cause: error })
  return data
}
