import type { UserId } from "../../protocol/ids.ts"
import type { KeepAlive } from "./keep-alive.ts"

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
