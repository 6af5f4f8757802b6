import type { UnknownFrame } from "../../protocol/frames.ts"
import type { Clock } from "../../shared/time/clock.ts"
import type { ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import type { WebSocket } from "ws"
import type { FrameSource, OpenSource, SentFrame } from "./frame-source.ts"
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response"
import { FairTurns } from "../../shared/concurrency/fair-queue.ts"

/** A comment, sent at once and during silence, which shows that the connection works. */
const HEARTBEAT = ":\n\n"
const encoder = new TextEncoder()

/** Server-sent events of a source, pulled as fast as the reader reads. */
export function toEventStream(source: FrameSource, pulse: KeepAlive): ReadableStream<Uint8Array> {
  let leaveKeepAlive = () => {}
  let quiet = true
  let over = false
  const end = () => {
    over = true
    leaveKeepAlive()
    source.close()
  }
  return new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(HEARTBEAT))
      leaveKeepAlive = pulse.join(() => {
        if (quiet && (controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(HEARTBEAT))
        quiet = true
      })
    },
    async pull(controller) {
      try {
        const frames = await source.next()
        if (over) return
        quiet = false
        if (frames) return controller.enqueue(encoder.encode(frames.map(toEventText).join("")))
        end()
        controller.close()
      } catch (error) {
        end() // the reader sees a cut connection and reconnects with its cursor
        throw error
      }
    },
    cancel: end,
  })
}

function toEventText({ id, type, data }: SentFrame): string {
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`
}

export const STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  // Proxies that buffer or compress an answer would delay events.
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
} as const

/** Converts frames of a run to texts of another format. */
export interface Translation {
  translate(frame: UnknownFrame): readonly string[]
  /** The run ended. */
  readonly isOver: boolean
}

/** A run in another format, pulled as fast as the reader reads, with a comment during silence. */
export function toTextStream(
  source: FrameSource,
  translation: Translation,
  pulse: KeepAlive,
): ReadableStream<Uint8Array> {
  let leaveKeepAlive = () => {}
  let quiet = false
  const end = () => {
    leaveKeepAlive()
    source.close()
  }
  return new ReadableStream<Uint8Array>({
    start(controller) {
      leaveKeepAlive = pulse.join(() => {
        if (quiet && (controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(HEARTBEAT))
        quiet = true
      })
    },
    async pull(controller) {
      try {
        for (;;) {
          const frames = translation.isOver ? undefined : await source.next()
          // An error cuts the connection: after a regular end the client would take half an answer for a complete one.
          if (!frames && !translation.isOver) throw new Error("the answer broke off")
          const text = (frames ?? []).flatMap((frame) => translation.translate(frame)).join("")
          quiet = false
          if (text !== "") return controller.enqueue(encoder.encode(text))
          if (frames) continue
          end()
          return controller.close()
        }
      } catch (error) {
        end()
        throw error
      }
    },
    cancel: end,
  })
}

/** A longer silence looks like a dead connection to proxies. */
const HEARTBEAT_MS = 7000 // at most 14 s between two heartbeats
/** Heartbeats are sent in groups: thousands at once would block other work. */
const GROUPS = 28

const pulses = new WeakMap<Clock, KeepAlive>()

export function keepAliveOf(clock: Clock): KeepAlive {
  const known = pulses.get(clock)
  if (known) return known
  const pulse = new KeepAlive(clock)
  pulses.set(clock, pulse)
  return pulse
}

/** One timer for all streams: an idle stream costs an entry of a set. */
class KeepAlive {
  readonly #clock: Clock
  readonly #groups = Array.from({ length: GROUPS }, () => new Set<() => void>())
  #next = 0
  #size = 0
  #stop: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Calls back every `HEARTBEAT_MS` until the returned function is called. */
  join(beat: () => void): () => void {
    // The group that was just served: its next turn is a full round away.
    const group = this.#groups.at(this.#next - 1) as Set<() => void>
    group.add(beat)
    if (this.#size++ === 0) this.#wait()
    return () => {
      if (group.delete(beat) && --this.#size === 0) this.#stop?.()
    }
  }

  #wait(): void {
    this.#stop = this.#clock.alarm(HEARTBEAT_MS / GROUPS, () => this.#turn(), "background")
  }

  #turn(): void {
    const group = this.#groups[this.#next] as Set<() => void>
    this.#next = (this.#next + 1) % GROUPS
    this.#wait() // first, so that a last stream that leaves during its heartbeat stops it
    for (const beat of group) beat()
  }
}

/**
 * Passed with a request that came over a socket: a handler that streams stores the source here and answers without a body,
 * and the frames are written to the socket directly. A web stream in between costs more than writing.
 */
export interface ConnectionHooks {
  stream?: { readonly source: OpenSource; readonly pulse: KeepAlive }
  /** Whether unread data may be buffered. Default: yes. */
  mayWait?: () => boolean
  /** Takes over an upgraded connection. */
  serve?: (socket: WebSocket, connection: Duplex) => void
  /** Releases the reserved place if `serve` is not called. */
  drop?: () => void
}

/** All writes of this process take turns: one event for a thousand watchers would block everything else. */
export const writingTurns = new FairTurns()

/** Most bytes of one write: what a watcher that does not read holds in memory. */
const MAX_WRITE = 64 * 1024

/** Sends the headers and then the frames, if the handler left a source; otherwise returns the answer. */
export function writeEventStream(hooks: ConnectionHooks, answer: Response, outgoing: ServerResponse): Response {
  if (!hooks.stream) return answer
  const { source, pulse } = hooks.stream
  // An error, or a HEAD request.
  if (answer.status !== 200 || outgoing.req.method === "HEAD") {
    source.close()
    return answer
  }
  outgoing.writeHead(200, Object.fromEntries(answer.headers))
  outgoing.write(HEARTBEAT)
  new EventStreamWriter(source, outgoing, { pulse, mayWait: hooks.mayWait })
  return RESPONSE_ALREADY_SENT
}

/** Writes frames as fast as the watcher reads: nothing is taken from the source before. */
class EventStreamWriter {
  readonly #source: OpenSource
  readonly #outgoing: ServerResponse
  readonly #leaveKeepAlive: () => void
  readonly #mayWait: (() => boolean) | undefined
  #quiet = true
  /** The watcher does not read, or its turn has not come. */
  #isWaiting = false

  constructor(
    source: OpenSource,
    outgoing: ServerResponse,
    { pulse, mayWait }: { readonly pulse: KeepAlive; readonly mayWait: ConnectionHooks["mayWait"] },
  ) {
    this.#source = source
    this.#outgoing = outgoing
    this.#mayWait = mayWait
    // Unsent data must not reach a caller whose credential is revoked.
    source.onEnded = () => this.#isWaiting && this.#cut()
    this.#leaveKeepAlive = pulse.join(() => this.#heartbeat())
    outgoing.on("close", () => this.#end())
    outgoing.on("error", ignore) // a failed connection closes next
    if (outgoing.destroyed) this.#end() // closed before it was answered: there will be no "close"
    else this.#next()
  }

  #next(): void {
    this.#source.next().then(
      (frames) => this.#write(frames).catch(() => this.#cut()),
      () => this.#cut(),
    )
  }

  async #write(frames: readonly SentFrame[] | undefined): Promise<void> {
    if (!frames) return void this.#outgoing.end()
    this.#quiet = false
    const turn = writingTurns.enter(this.#source.user)
    if (turn) {
      this.#isWaiting = true
      await turn
      this.#isWaiting = false
    }
    let text = ""
    for (const frame of frames) {
      text += toEventText(frame)
      if (text.length < MAX_WRITE) continue
      if (!this.#send(text)) await this.#drained()
      text = ""
    }
    if (text !== "" && !this.#send(text)) await this.#drained()
    if (!this.#outgoing.destroyed) this.#next()
  }

  #send(text: string): boolean {
    return this.#outgoing.destroyed || this.#outgoing.write(text)
  }

  /** Resolves when the watcher has read, or is gone. */
  #drained(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const outgoing = this.#outgoing
    const go = () => {
      this.#isWaiting = false
      outgoing.off("drain", go).off("close", go)
      resolve()
    }
    this.#isWaiting = true
    outgoing.on("drain", go).on("close", go)
    if (this.#mayWait?.() === false) this.#cut()
    return promise
  }

  #heartbeat(): void {
    if (this.#quiet && !this.#outgoing.writableNeedDrain) this.#send(HEARTBEAT)
    this.#quiet = true
  }

  /** The watcher sees a cut connection and reconnects with its cursor. */
  #cut(): void {
    this.#outgoing.destroy()
  }

  #end(): void {
    this.#leaveKeepAlive()
    this.#source.close()
  }
}

function ignore(): void {}

// Reading the body here, when the module is loaded, makes the framework recognise this response later, even if it has
// replaced the global Response.
if (RESPONSE_ALREADY_SENT.body) throw new Error("an answer that was sent has no body")
