import type { UserId } from "../../protocol/ids.ts"
import type { UnknownFrame } from "../../protocol/frames.ts"
import type { Clock } from "../../shared/time/clock.ts"
import type { ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import type { WebSocket } from "ws"
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response"
import { FairTurns } from "../../shared/concurrency/fair-queue.ts"

export interface SentFrame {
  readonly id: string
  readonly type: string
  readonly data: unknown
}

/** Whatever has frames to show, one batch after the other. */
export interface FrameSource<Frame extends SentFrame = SentFrame> {
  /** Undefined: there will be no more. */
  next(): Promise<readonly Frame[] | undefined>
  close(): void
}

/** One that others may end than whoever shows it. */
export interface OpenSource<Frame extends SentFrame = SentFrame> extends FrameSource<Frame> {
  /** Who watches. */
  readonly user: UserId
  /** To be set by who shows it: told when its caller no longer counts, or the server goes down. */
  whenEnded?: () => void
}

/** One that can say that there is something before it is taken, so that whoever has no room yet need not hold it. */
export interface WaitingSource<Frame extends SentFrame = SentFrame> {
  /** Resolves as soon as there is something to take; false: there will be no more. */
  wait(): Promise<boolean>
  /** What there is; perhaps nothing after all. */
  take(): Promise<readonly Frame[]>
  close(): void
}

/** A comment: goes out whenever nothing else has for a while, and at once, so that the watcher knows it is connected. */
export const SIGN_OF_LIFE = ":\n\n"
const encoder = new TextEncoder()

/** Server-sent events of a source, pulled as fast as the watcher reads: its back-pressure reaches the source. */
export function toEventStream(source: FrameSource, pulse: KeepAlive): ReadableStream<Uint8Array> {
  let leavePulse = () => {}
  let quiet = true
  let over = false
  const end = () => {
    over = true
    leavePulse()
    source.close()
  }
  return new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(SIGN_OF_LIFE))
      leavePulse = pulse.join(() => {
        if (quiet && (controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(SIGN_OF_LIFE))
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
        end() // the watcher finds the connection cut and comes again with its cursor
        throw error
      }
    },
    cancel: end,
  })
}

export function toEventText({ id, type, data }: SentFrame): string {
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`
}

export const STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  // Proxies that gather or compress an answer would hold back what is meant to be seen at once.
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
} as const

/** What the frames of a run are in another's words: texts to be sent as they are. */
export interface Translation {
  translate(frame: UnknownFrame): readonly string[]
  /** It has come to its end, good or bad. */
  readonly isOver: boolean
}

/** A run in another's words, pulled as fast as its listener reads; a comment whenever nothing was said for a while. */
export function toTextStream(
  source: FrameSource,
  translation: Translation,
  pulse: KeepAlive,
): ReadableStream<Uint8Array> {
  let leavePulse = () => {}
  let quiet = false
  const end = () => {
    leavePulse()
    source.close()
  }
  return new ReadableStream<Uint8Array>({
    start(controller) {
      leavePulse = pulse.join(() => {
        if (quiet && (controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(SIGN_OF_LIFE))
        quiet = true
      })
    },
    async pull(controller) {
      try {
        for (;;) {
          const frames = translation.isOver ? undefined : await source.next()
          // Broken off by us: a listener that found a proper end would take half an answer for a whole one.
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

/** Silence longer than this looks like a dead connection to whatever lies between us and the watcher. */
const PULSE_MS = 7000 // so that no two signs of life are more than 14 s apart
/** Streams beat in so many groups, one after the other: thousands at once would hold up everything else. */
const GROUPS = 28

const pulses = new WeakMap<Clock, KeepAlive>()

export function pulseOf(clock: Clock): KeepAlive {
  const known = pulses.get(clock)
  if (known) return known
  const pulse = new KeepAlive(clock)
  pulses.set(clock, pulse)
  return pulse
}

/** One alarm for all streams, however many: an idle one costs a place in a set. */
export class KeepAlive {
  readonly #clock: Clock
  readonly #groups = Array.from({ length: GROUPS }, () => new Set<() => void>())
  #next = 0
  #size = 0
  #stop: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Calls back every `PULSE_MS` until the returned function is called. */
  join(beat: () => void): () => void {
    // The group that has just had its turn: a whole round lies ahead.
    const group = this.#groups.at(this.#next - 1) as Set<() => void>
    group.add(beat)
    if (this.#size++ === 0) this.#wait()
    return () => {
      if (group.delete(beat) && --this.#size === 0) this.#stop?.()
    }
  }

  #wait(): void {
    this.#stop = this.#clock.alarm(PULSE_MS / GROUPS, () => this.#turn(), "background")
  }

  #turn(): void {
    const group = this.#groups[this.#next] as Set<() => void>
    this.#next = (this.#next + 1) % GROUPS
    this.#wait() // first, so that whoever leaves as the last during the beat stops it
    for (const beat of group) beat()
  }
}

/**
 * What comes with a request that came by a socket: who answers it with a stream leaves the source here and an answer
 * without a body, and the frames are written to the socket itself. A web stream in between costs more than they do.
 */
export interface Takeover {
  stream?: { readonly source: OpenSource; readonly pulse: KeepAlive }
  /** Whether what its watcher has not read may wait in memory. Without it, it may. */
  mayWait?: () => boolean
  /** Takes over what the request becomes, where it asked to be a socket and may be one. */
  serve?: (socket: WebSocket, connection: Duplex) => void
  /** Gives up the place that was kept for it, where it does not come to `serve`. */
  drop?: () => void
}

/** Of all that is written in this process: a thousand who watch a long text would hold up everybody with one piece of it. */
export const writingTurns = new FairTurns()

/** Held in memory for one watcher that does not read: what one write may leave behind. */
const MAX_WRITE = 64 * 1024

/** Sends the head of the answer, then the frames that were left on the line; without any, the answer as it is. */
export function writeEventStream(line: Takeover, answer: Response, outgoing: ServerResponse): Response {
  if (!line.stream) return answer
  const { source, pulse } = line.stream
  // A refusal after all, or one who wanted to see the head alone.
  if (answer.status !== 200 || outgoing.req.method === "HEAD") {
    source.close()
    return answer
  }
  outgoing.writeHead(200, Object.fromEntries(answer.headers))
  outgoing.write(SIGN_OF_LIFE)
  new EventStreamWriter(source, outgoing, { pulse, mayWait: line.mayWait })
  return RESPONSE_ALREADY_SENT
}

/** Writes frames as fast as the watcher reads: until it has, nothing more is taken from the source. */
class EventStreamWriter {
  readonly #source: OpenSource
  readonly #outgoing: ServerResponse
  readonly #leavePulse: () => void
  readonly #mayWait: (() => boolean) | undefined
  #quiet = true
  /** Its watcher does not read, or has to wait for others. */
  #held = false

  constructor(
    source: OpenSource,
    outgoing: ServerResponse,
    { pulse, mayWait }: { readonly pulse: KeepAlive; readonly mayWait: Takeover["mayWait"] },
  ) {
    this.#source = source
    this.#outgoing = outgoing
    this.#mayWait = mayWait
    // What it still holds is not for somebody who may no longer look.
    source.whenEnded = () => this.#held && this.#cut()
    this.#leavePulse = pulse.join(() => this.#beat())
    outgoing.on("close", () => this.#end())
    outgoing.on("error", ignore) // one that cannot be written to closes next; nobody else has to hear of it
    if (outgoing.destroyed) this.#end() // gone before it was answered: there will be no "close"
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
      this.#held = true
      await turn
      this.#held = false
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

  /** Resolves when the watcher has read on, or is gone. */
  #drained(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const outgoing = this.#outgoing
    const go = () => {
      this.#held = false
      outgoing.off("drain", go).off("close", go)
      resolve()
    }
    this.#held = true
    outgoing.on("drain", go).on("close", go)
    if (this.#mayWait?.() === false) this.#cut()
    return promise
  }

  #beat(): void {
    if (this.#quiet && !this.#outgoing.writableNeedDrain) this.#send(SIGN_OF_LIFE)
    this.#quiet = true
  }

  /** The watcher finds the connection cut and comes again with its cursor. */
  #cut(): void {
    this.#outgoing.destroy()
  }

  #end(): void {
    this.#leavePulse()
    this.#source.close()
  }
}

function ignore(): void {}

// Made when its module was loaded: where the framework has put its own class in the place of Response by then, it is one
// that would be sent after all, unless its body has been asked for.
if (RESPONSE_ALREADY_SENT.body) throw new Error("an answer that was sent has no body")
