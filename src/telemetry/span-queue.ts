import type { Clock } from "../agent/clock.ts"
import type { Log } from "../agent/ports.ts"
import type { RunSpan } from "./span.ts"

/** Spans that wait to be sent at most. What comes then is dropped, and counted: a run is never held up, nor memory filled. */
const MAX_WAITING = 4096
/** Sent as soon as so many wait, or after so long. */
const BATCH = 512
const WAIT_MS = 2000
/** How often it is said at most that spans do not arrive. */
const COMPLAIN_MS = 60_000

export type Outcome = "sent" | "failed" | "dropped"

/** Sends a batch; rejects where it did not arrive. */
export type SendSpans = (spans: readonly RunSpan[]) => Promise<void>

export interface SpanQueueOptions {
  readonly send: SendSpans
  readonly clock: Clock
  readonly log: Log
  readonly count: (outcome: Outcome, spans: number) => void
  readonly maxWaiting?: number
}

/** Between what happens and whoever is told of it: never waits, never grows without end. One batch is under way at a time. */
export class SpanQueue {
  readonly #options: SpanQueueOptions
  #waiting: RunSpan[] = []
  #sending: Promise<void> | undefined
  #cancelAlarm: (() => void) | undefined
  #complainedAt = -Infinity

  constructor(options: SpanQueueOptions) {
    this.#options = options
  }

  add(spans: readonly RunSpan[]): void {
    const { count, maxWaiting = MAX_WAITING, clock } = this.#options
    const room = Math.max(0, maxWaiting - this.#waiting.length)
    this.#waiting.push(...spans.slice(0, room))
    if (spans.length > room) count("dropped", spans.length - room)
    if (this.#waiting.length >= BATCH) this.#send()
    else if (this.#waiting.length > 0) this.#cancelAlarm ??= clock.alarm(WAIT_MS, () => this.#send(), "background")
  }

  /** Sends what waits, as far as there is time for it; the rest is dropped. */
  async flush(ms: number): Promise<void> {
    const late = Promise.withResolvers<void>()
    const cancel = this.#options.clock.alarm(ms, () => late.resolve())
    let isLate = false
    const everything = async () => {
      while (!isLate && (this.#sending || this.#waiting.length > 0)) {
        this.#send()
        await this.#sending
      }
    }
    await Promise.race([everything(), late.promise])
    isLate = true
    cancel()
    this.#cancelAlarm?.()
    if (this.#waiting.length > 0) this.#options.count("dropped", this.#waiting.length)
    this.#waiting = []
  }

  #send(): void {
    this.#cancelAlarm?.()
    this.#cancelAlarm = undefined
    if (this.#sending || this.#waiting.length === 0) return
    const batch = this.#waiting.splice(0, BATCH)
    this.#sending = this.#sendBatch(batch).finally(() => {
      this.#sending = undefined
      this.add([]) // what has come meanwhile
    })
  }

  async #sendBatch(batch: readonly RunSpan[]): Promise<void> {
    const { send, count } = this.#options
    try {
      await send(batch)
      count("sent", batch.length)
    } catch (error) {
      count("failed", batch.length)
      this.#complain(error)
    }
  }

  #complain(error: unknown): void {
    const { clock, log } = this.#options
    if (clock.now() - this.#complainedAt < COMPLAIN_MS) return
    this.#complainedAt = clock.now()
    // What `fetch` throws says why only in its cause.
    const { message, cause } = error as Error
    const problem = cause instanceof Error ? `${message}: ${cause.message}` : message
    log.warn("spans_not_sent", { problem })
  }
}
