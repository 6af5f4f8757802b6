import type { WebSocket } from "ws"
import type { Clock } from "../../agent/clock.ts"
import { AppError, failure } from "../../protocol/errors.ts"
import { ClientFrame, CLOSE, PING_SECONDS, type ServerFrame } from "../../protocol/socket.ts"
import { readFrame } from "../request/read-input.ts"
import { Throttle } from "./throttle.ts"

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
  /** A frame of that type, but with words that cannot be stored: a person's mistake, after which the next is heard. */
  onRefused(error: AppError, type: unknown): void
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

  constructor(socket: WebSocket, clock: Clock, handler: FrameHandler) {
    this.#socket = socket
    this.#clock = clock
    this.#handler = handler
    this.#throttle = new Throttle(clock, socket)
    socket.on("message", (data: Buffer, binary) => this.#hear(data, binary))
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

  #hear(data: Buffer, binary: boolean): void {
    if (this.#over) return
    this.#asked.socket = false
    this.#throttle.count(data.length)
    let type: unknown
    const isAnswer = (frame: unknown) => isAnswerType((type = typeOf(frame)))
    try {
      if (binary) throw failure("bad_request", { problem: "A frame is a JSON text, not bytes." })
      const frame = readFrame(data.toString(), ClientFrame, isAnswer)
      if (frame.type === "ping") return this.#answerJson()
      if (frame.type === "pong") this.#asked.json = false
      else if (this.#handler.onFrame(frame)) this.#throttle.forgive()
    } catch (error) {
      if (error instanceof AppError && error.code === "unstorable_text") return this.#handler.onRefused(error, type)
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

const typeOf = (frame: unknown): unknown => ((frame ?? {}) as { type?: unknown }).type

/** What a device answers is a tool's word, not a person's. */
const isAnswerType = (type: unknown): boolean => type === "tool_result" || type === "tool_status"

function ignore(): void {}
