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

/** From a ping to the moment when its peer counts as gone; with the time between pings 40 s at most. */
const ANSWER_MS = 10_000
/** A peer that does not close its end after ours is cut off. */
const CLOSING_MS = 2000
/** Unsent bytes at which pulling stops, and at which a peer that does not read is dropped. */
const MAX_PULLED = 64 * 1024
const MAX_WAITING = 4 * 1024 * 1024

interface FrameHandler {
  /** Returns true if the frame answers a call over this socket: then it does not count against the peer's rate. */
  onFrame(frame: ClientFrame): boolean
  /** A valid frame, except for text that cannot be stored or a malformed `context`: the socket stays open. */
  onRefused(error: AppError, type: unknown): void
  /** `text` is not a valid frame. Returns true if it answers an open call, which fails with that problem. */
  onUnreadable(text: string, problem: string): boolean
  /** Whether a call or status question over this socket is open. */
  expectsAnswer(): boolean
  /** Called once, as soon as no more frames are delivered. */
  onClose(): void
}

/**
 * JSON frames over a socket. A peer that floods, is silent, sends garbage or does not read loses its connection or its own
 * speed; others are not affected.
 */
export class JsonSocket {
  readonly #socket: WebSocket
  readonly #clock: Clock
  readonly #handler: FrameHandler
  readonly #throttle: Throttle
  #sending: Promise<unknown> = Promise.resolve()
  #cancelTimer: () => void = () => {}
  #over = false
  /** Which answers to the last ping are missing. */
  #unanswered = { socket: false, json: false }
  /** Set after a device's `hello`: the program itself must answer `ping`, not only its connection. */
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
    socket.on("message", (data: Buffer, binary) => incoming?.takeCut(data) || this.#receive(data, binary))
    if (incoming) incoming.limits = this.#sizeLimits()
    socket.on("ping", (data: Buffer) => this.#answerPing(data))
    socket.on("pong", (data: Buffer) => this.#receivePong(data))
    socket.on("close", () => this.#end())
    this.#cancelTimer = clock.alarm(PING_SECONDS * 1000, () => this.#ping(), "background")
  }

  get open(): boolean {
    return !this.#over
  }

  /** Sends a frame at once. A peer that leaves megabytes unread is dropped. */
  send(frame: ServerFrame): void {
    if (this.#over) return
    if (this.#socket.bufferedAmount > MAX_WAITING) return this.close(CLOSE.silent, "you do not read what you are sent")
    this.#socket.send(JSON.stringify(frame), ignore)
  }

  /**
   * Sends frames as fast as the peer reads. Resolves when there is room for more, or with false when the peer is gone. Calls
   * are executed one after another.
   */
  sendAll(frames: readonly ServerFrame[]): Promise<boolean> {
    const sent = this.#sending.then(() => this.#write(frames))
    this.#sending = sent
    return sent
  }

  /** The same with frames that are created when their turn comes, so that nothing is buffered behind a slow reader. */
  pull(take: () => Promise<readonly ServerFrame[]>): Promise<boolean> {
    const sent = this.#sending.then(async () => !this.#over && this.#write(await take()))
    this.#sending = sent.catch(ignore) // the error is handled by the caller
    return sent
  }

  fail(error: unknown, id?: string): void {
    const { code, message } = error instanceof AppError ? error : failure("internal")
    this.send({ type: "error", code, message, ...(id === undefined ? {} : { id }) })
  }

  /** Delivers no more frames from now on. */
  close(code: number, reason: string): void {
    if (this.#over) return
    this.#end()
    this.#socket.close(code, reason)
    const cancel = this.#clock.alarm(CLOSING_MS, () => this.#socket.terminate(), "background")
    this.#socket.on("close", cancel)
  }

  /** Pauses reading during `work` if too much is in progress. */
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

  /** The limit is higher while a result is expected. A larger result fails its call, not the socket. */
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

  #receive(data: Buffer, binary: boolean): void {
    if (this.#over) return
    this.#unanswered.socket = false
    this.#throttle.count(data.length)
    const text = data.toString()
    let raw: unknown
    try {
      if (binary || !isUtf8(data)) throw failure("bad_request", { problem: "A frame is a JSON text, not bytes." })
      raw = parseFrame(text, { mayBeLarge: this.#handler.expectsAnswer() })
      const frame = readFrame({ text, frame: raw, isAnswer: isAnswerType(typeOf(raw)) }, ClientFrame)
      if (frame.type === "ping") return this.#answerJson()
      if (frame.type === "pong") this.#unanswered.json = false
      else if (this.#handler.onFrame(frame)) this.#throttle.refund()
    } catch (error) {
      if (error instanceof AppError && isRecoverable(error, raw)) return this.#handler.onRefused(error, typeOf(raw))
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

  #receivePong(data: Buffer): void {
    this.#throttle.count(data.length) // an unsolicited pong counts like any other frame
    this.#unanswered.socket = false
  }

  #answerJson(): void {
    if (this.#socket.bufferedAmount < MAX_PULLED) this.send({ type: "pong" })
  }

  #ping(): void {
    this.#unanswered = { socket: true, json: this.answersPings }
    this.#socket.ping(undefined, undefined, ignore)
    this.send({ type: "ping" })
    if (this.#over) return
    this.#cancelTimer = this.#clock.alarm(ANSWER_MS, () => this.#checkAnswers(), "background")
  }

  #checkAnswers(): void {
    // While we have paused reading, an answer may be waiting unread.
    const silent = (this.#unanswered.socket || this.#unanswered.json) && !this.#throttle.holding
    if (silent) return this.close(CLOSE.silent, "no answer to a ping")
    this.#cancelTimer = this.#clock.alarm(PING_SECONDS * 1000 - ANSWER_MS, () => this.#ping(), "background")
  }

  #end(): void {
    if (this.#over) return
    this.#over = true
    this.#cancelTimer()
    this.#throttle.close()
    this.#handler.onClose()
  }
}

const MEBIBYTE = 1024 * 1024
/** A result names its call within this many characters of either end. */
const END = 4096
const endsOf = (text: string) => (text.length > 2 * END ? `${text.slice(0, END)} ${text.slice(-END)}` : text)

/** A person's mistake rather than a broken client: its frame is refused, and the socket stays open. */
function isRecoverable({ code }: AppError, frame: unknown): boolean {
  if (code === "unstorable_text") return true
  // Everything except its context is valid.
  return typeOf(frame) === "chat_request" && ChatRequest.safeParse({ ...(frame as object), context: null }).success
}

const typeOf = (frame: unknown): unknown => ((frame ?? {}) as { type?: unknown }).type

/** A device's result is not a person's text. */
const isAnswerType = (type: unknown): boolean => type === "tool_result" || type === "tool_status"

function ignore(): void {}

/** The rate of a peer: a burst, then this many units per second. A large frame counts as many. */
const BURST = 500
const PER_SECOND = 250
const BYTES_PER_UNIT = 4 * 1024
/** Most requests of one socket in progress. */
const MAX_UNDER_WAY = 32

interface Pausable {
  pause(): void
  resume(): void
}

/** Pauses reading from a peer that sends faster than its frames are processed; the rest waits at the sender. */
class Throttle {
  readonly #clock: Clock
  readonly #source: Pausable
  #level = BURST
  #at: number
  #underWay = 0
  #cancelTimer: (() => void) | undefined
  #over = false

  constructor(clock: Clock, source: Pausable) {
    this.#clock = clock
    this.#source = source
    this.#at = monotonicOf(clock)
  }

  get holding(): boolean {
    return this.#cancelTimer !== undefined || this.#underWay >= MAX_UNDER_WAY
  }

  count(bytes: number): void {
    const now = monotonicOf(this.#clock)
    const filled = this.#level + (Math.max(0, now - this.#at) * PER_SECOND) / 1000
    this.#level = Math.min(BURST, filled) - Math.max(1, bytes / BYTES_PER_UNIT)
    this.#at = now
    if (this.#level >= 0 || this.#cancelTimer) return
    const ms = Math.ceil((-this.#level * 1000) / PER_SECOND)
    this.#cancelTimer = this.#clock.alarm(ms, () => this.#resume(), "background")
    this.#source.pause()
  }

  /** Returns one unit: the frame was requested by us. */
  refund(): void {
    this.#level = Math.min(BURST, this.#level + 1)
  }

  during(work: Promise<unknown>): void {
    if (++this.#underWay >= MAX_UNDER_WAY) this.#source.pause()
    const done = () => {
      this.#underWay--
      if (!this.holding && !this.#over) this.#source.resume()
    }
    work.then(done, done)
  }

  close(): void {
    this.#over = true
    this.#cancelTimer?.()
    this.#source.resume() // so that the peer's close is read
  }

  #resume(): void {
    this.#cancelTimer = undefined
    if (!this.holding && !this.#over) this.#source.resume()
  }
}
