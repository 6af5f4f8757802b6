import type { Clock } from "../agent/clock.ts"

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

/** Silence longer than this looks like a dead connection to whatever lies between us and the watcher. */
const PULSE_MS = 7000 // so that no two signs of life are more than 14 s apart
const PULSE = new TextEncoder().encode(":\n\n")
const encoder = new TextEncoder()

/**
 * Server-sent events of a source, pulled as fast as the watcher reads: the socket's back-pressure reaches the source. A
 * comment goes out whenever nothing else has for a while, and at once, so that the watcher knows it is connected.
 */
export function toEventStream(source: FrameSource, clock: Clock): ReadableStream<Uint8Array> {
  let stopPulse = () => {}
  let quiet = true
  let over = false
  const end = () => {
    over = true
    stopPulse()
    source.close()
  }
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const beat = () => {
        if (quiet && (controller.desiredSize ?? 0) > 0) controller.enqueue(PULSE)
        quiet = true
        stopPulse = clock.alarm(PULSE_MS, beat, "background")
      }
      beat()
    },
    async pull(controller) {
      try {
        const frames = await source.next()
        if (over) return
        quiet = false
        if (frames) return controller.enqueue(encoder.encode(frames.map(toText).join("")))
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

export function toText({ id, type, data }: SentFrame): string {
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`
}

export const STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  // Proxies that gather or compress an answer would hold back what is meant to be seen at once.
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
} as const
