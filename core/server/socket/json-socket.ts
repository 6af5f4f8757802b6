import { isUtf8 } from "node:buffer"
import type { WebSocket } from "ws"
import { type Clock, monotonicOf } from "../../shared/time/clock.ts"
import { AppError, failure } from "../../protocol/errors.ts"
import {
  ChatRequest,
  ClientFrame,
  CLOSE,
  MAX_ANSWER_BYTES,
  MAX_FRAME_BYTES,
  PING_SECONDS,
  type ServerFrame,
} from "../../protocol/socket.ts"
import { parseFrame, readFrame } from "../request/read-input.ts"
import type { IncomingFrames } from "./incoming-frames.ts"

/** From a ping to the moment when its sender counts as gone: with the time between pings 40 s at most. */
const ANSWER_MS = 10_000
/** A peer that does not close its end when we have closed ours is cut off. */
const CLOSING_MS = 2000
/** Unsent bytes at which we stop pulling frames, and at which a peer that does not read is dropped. */
const MAX_PULLED = 64 * 1024
const MAX_WAITING = 4 * 1024 * 1024

export interface FrameHandler {
  /** True where it is the answer to something that was asked over this socket: then it costs the peer nothing. */
  onFrame(frame: ClientFrame): boolean
  /** A frame of that type, but with text that cannot be stored or a malformed `context`: the next frame is read all the same. */
  onRefused(error: AppError, type: unknown): void
  /** `text` cannot be read as a frame. True if it answers an open call, which fails with that problem. */
  onUnreadable(text: string, problem: string): boolean
  /** Whether something was asked over this socket and not answered. */
  expectsAnswer(): boolean
  /** Once, as soon as nothing more will be heard. */
  onClose(): void
}

/**
 * JSON frames over a socket. Whatever the peer does (floods, silence, nonsense, not reading) costs it the connection or
 * its own speed, and nobody else anything.
 */
export class JsonSocket {
  readonly #socket: WebSocket
  readonly #clock: Clock
  readonly #handler: FrameHandler
  readonly #throttle: Throttle
  #sending: Promise<unknown> = Promise.resolve()
  #takeBack: () => void = () => {}
  #over = false
  /** What has not been answered of the last ping, and whether ours is waited for. */
  #asked = { socket: false, json: false }
  /** Set once a device has said hello: it has to answer `ping` by itself, not only its connection. */
  answersPings = false

  constructor(
    { socket, incoming }: { readonly socket: WebSocket; readonly incoming?: IncomingFrames },
    clock: Clock,
    handler: FrameHandler,
  ) {
    this.#socket = socket
    this.#clock = clock
    this.#handler = handler
    this.#throttle = new Throttle(clock, socket)
    socket.on("message", (data: Buffer, binary) => incoming?.takeCut(data) || this.#hear(data, binary))
    if (incoming) incoming.limits = this.#sizeLimits()
    socket.on("ping", (data: Buffer) => this.#answerPing(data))
    socket.on("pong", (data: Buffer) => this.#hearPong(data))
    socket.on("close", () => this.#end())
    this.#takeBack = clock.alarm(PING_SECONDS * 1000, () => this.#ping(), "background")
  }

  get open(): boolean {
    return !this.#over
  }

  /** For what comes by itself. A peer that leaves megabytes of it unread is dropped. */
  send(frame: ServerFrame): void {
    if (this.#over) return
    if (this.#socket.bufferedAmount > MAX_WAITING) return this.close(CLOSE.silent, "you do not read what you are sent")
    this.#socket.send(JSON.stringify(frame), ignore)
  }

  /** For what is pulled: resolves when the peer has room for more, false when it is gone. One after the other. */
  sendAll(frames: readonly ServerFrame[]): Promise<boolean> {
    const sent = this.#sending.then(() => this.#write(frames))
    this.#sending = sent
    return sent
  }

  /** The same for frames that are only made when it is their turn: whoever waits behind a slow reader holds nothing meanwhile. */
  pull(take: () => Promise<readonly ServerFrame[]>): Promise<boolean> {
    const sent = this.#sending.then(async () => !this.#over && this.#write(await take()))
    this.#sending = sent.catch(ignore) // what could not be made is the matter of who would have made it
    return sent
  }

  fail(error: unknown, id?: string): void {
    const { code, message } = error instanceof AppError ? error : failure("internal")
    this.send({ type: "error", code, message, ...(id === undefined ? {} : { id }) })
  }

  /** Hears nothing more from now on. */
  close(code: number, reason: string): void {
    if (this.#over) return
    this.#end()
    this.#socket.close(code, reason)
    const takeBack = this.#clock.alarm(CLOSING_MS, () => this.#socket.terminate(), "background")
    this.#socket.on("close", takeBack)
  }

  /** Holds back reading while `work` lasts, where too much is under way. */
  during(work: Promise<unknown>): void {
    this.#throttle.during(work)
  }

  async #write(frames: readonly ServerFrame[]): Promise<boolean> {
    for (const [index, frame] of frames.entries()) {
      if (this.#over) return false
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#socket.send(JSON.stringify(frame), () => resolve())
      if (index === frames.length - 1 || this.#socket.bufferedAmount > MAX_PULLED) await promise
    }
    return !this.#over
  }

  /** Larger messages are read while an answer is expected; an answer that is larger still fails its call, not the socket. */
  #sizeLimits(): IncomingFrames["limits"] {
    const handler = this.#handler
    return {
      allowedBytes: () => (handler.expectsAnswer() ? MAX_ANSWER_BYTES : MAX_FRAME_BYTES),
      onTooLarge: () => {
        if (handler.expectsAnswer()) return true
        this.close(CLOSE.tooLarge, "too large")
        return false
      },
      onSkipped: ({ bytes, ends }) => {
        const size = `${(bytes / MEBIBYTE).toFixed(1)} MiB`
        handler.onUnreadable(
          ends,
          `it has ${size}, and ${MAX_ANSWER_BYTES / MEBIBYTE} MiB are the most; ask for less at once`,
        )
      },
    }
  }

  #hear(data: Buffer, binary: boolean): void {
    if (this.#over) return
    this.#asked.socket = false
    this.#throttle.count(data.length)
    const text = data.toString()
    let raw: unknown
    try {
      if (binary || !isUtf8(data)) throw failure("bad_request", { problem: "A frame is a JSON text, not bytes." })
      raw = parseFrame(text, { mayBeLarge: this.#handler.expectsAnswer() })
      const frame = readFrame({ text, frame: raw, isAnswer: isAnswerType(typeOf(raw)) }, ClientFrame)
      if (frame.type === "ping") return this.#answerJson()
      if (frame.type === "pong") this.#asked.json = false
      else if (this.#handler.onFrame(frame)) this.#throttle.forgive()
    } catch (error) {
      if (error instanceof AppError && isForgiven(error, raw)) return this.#handler.onRefused(error, typeOf(raw))
      const problem = error instanceof AppError ? error.message : "it cannot be read"
      if (error instanceof AppError && this.#handler.onUnreadable(endsOf(text), problem)) return
      this.fail(error)
      this.close(CLOSE.badFrame, "bad frame")
    }
  }

  #answerPing(data: Buffer): void {
    this.#throttle.count(data.length)
    if (!this.#over && this.#socket.bufferedAmount < MAX_PULLED) this.#socket.pong(data, undefined, ignore)
  }

  #hearPong(data: Buffer): void {
    this.#throttle.count(data.length) // one that nobody asked for costs as much as any other frame
    this.#asked.socket = false
  }

  #answerJson(): void {
    if (this.#socket.bufferedAmount < MAX_PULLED) this.send({ type: "pong" })
  }

  #ping(): void {
    this.#asked = { socket: true, json: this.answersPings }
    this.#socket.ping(undefined, undefined, ignore)
    this.send({ type: "ping" })
    if (this.#over) return
    this.#takeBack = this.#clock.alarm(ANSWER_MS, () => this.#judge(), "background")
  }

  #judge(): void {
    // Where we are the ones who do not read, an answer may wait unread.
    const silent = (this.#asked.socket || this.#asked.json) && !this.#throttle.holding
    if (silent) return this.close(CLOSE.silent, "no answer to a ping")
    this.#takeBack = this.#clock.alarm(PING_SECONDS * 1000 - ANSWER_MS, () => this.#ping(), "background")
  }

  #end(): void {
    if (this.#over) return
    this.#over = true
    this.#takeBack()
    this.#throttle.close()
    this.#handler.onClose()
  }
}

const MEBIBYTE = 1024 * 1024
/** Characters at each end of a frame in which an answer names its call. */
const END = 4096
const endsOf = (text: string) => (text.length > 2 * END ? `${text.slice(0, END)} ${text.slice(-END)}` : text)

/** A person's mistake, and no sign of a broken client: its frame is refused, and the next one is read. */
function isForgiven({ code }: AppError, frame: unknown): boolean {
  if (code === "unstorable_text") return true
  // Everything but its context is as it should be.
  return typeOf(frame) === "chat_request" && ChatRequest.safeParse({ ...(frame as object), context: null }).success
}

const typeOf = (frame: unknown): unknown => ((frame ?? {}) as { type?: unknown }).type

/** What a device answers is a tool's word, not a person's. */
const isAnswerType = (type: unknown): boolean => type === "tool_result" || type === "tool_status"

function ignore(): void {}

/** What a peer may send: a burst, and then so much a second. A large frame counts as many small ones. */
const BURST = 500
const PER_SECOND = 250
const BYTES_PER_UNIT = 4 * 1024
/** Requests of one socket that may be under way at a time. */
const MAX_UNDER_WAY = 32

interface Tap {
  pause(): void
  resume(): void
}

/** Reads on from a peer only as fast as its frames can be dealt with: the rest waits where it is sent from. */
export class Throttle {
  readonly #clock: Clock
  readonly #tap: Tap
  #level = BURST
  #at: number
  #underWay = 0
  #takeBack: (() => void) | undefined
  #over = false

  constructor(clock: Clock, tap: Tap) {
    this.#clock = clock
    this.#tap = tap
    this.#at = monotonicOf(clock)
  }

  get holding(): boolean {
    return this.#takeBack !== undefined || this.#underWay >= MAX_UNDER_WAY
  }

  count(bytes: number): void {
    const now = monotonicOf(this.#clock)
    const filled = this.#level + (Math.max(0, now - this.#at) * PER_SECOND) / 1000
    this.#level = Math.min(BURST, filled) - Math.max(1, bytes / BYTES_PER_UNIT)
    this.#at = now
    if (this.#level >= 0 || this.#takeBack) return
    const ms = Math.ceil((-this.#level * 1000) / PER_SECOND)
    this.#takeBack = this.#clock.alarm(ms, () => this.#goOn(), "background")
    this.#tap.pause()
  }

  /** Takes one back of what was counted: we have asked for it, and do not ask faster than we can bear. */
  forgive(): void {
    this.#level = Math.min(BURST, this.#level + 1)
  }

  during(work: Promise<unknown>): void {
    if (++this.#underWay >= MAX_UNDER_WAY) this.#tap.pause()
    const done = () => {
      this.#underWay--
      if (!this.holding && !this.#over) this.#tap.resume()
    }
    work.then(done, done)
  }

  close(): void {
    this.#over = true
    this.#takeBack?.()
    this.#tap.resume() // so that the peer's close is read
  }

  #goOn(): void {
    this.#takeBack = undefined
    if (!this.holding && !this.#over) this.#tap.resume()
  }
}
