import type { Clock } from "../../shared/time/clock.ts"
import type { Log } from "../../shared/log.ts"
import { codeOf } from "../../protocol/errors.ts"
import type { UserId } from "../../protocol/ids.ts"
import { requestedWait } from "../../shared/time/retry-time.ts"

/** How often to look for work that another process left: for waiting items often, through everything rarely. */
const POLL_EVERY_MS = 2000
const SWEEP_EVERY_MS = 10 * 60_000
export const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 5 * 60_000

/** A kind of items that need vectors. */
export interface EmbeddingWork {
  readonly clock: Clock
  readonly log: Log
  /** The log event of a failure. */
  readonly failure: string
  /** Marks items that should wait but do not. True if none are left. */
  sweep(): Promise<boolean>
  /** Processes some waiting items. False if there are none for this process. */
  next(): Promise<boolean>
  /** Deletes vectors of previous embedders. Runs once per process, because it scans all vectors. */
  deleteOtherEmbedders(signal: AbortSignal): Promise<void>
  /** Runs before each round. */
  prepare?(signal: AbortSignal): Promise<void>
  /** Called when work is retried after this many milliseconds. */
  onRetry?(error: unknown, retryMs: number): void
}

/** Works while items wait, looks for new ones now and then, and retries failures with growing pauses. */
export class EmbeddingLoop {
  readonly #work: EmbeddingWork
  readonly #end = new AbortController()
  #working: Promise<void> | undefined
  #isWoken = false
  #sweptAt = 0
  #hasDeletedOthers = false
  #pauseMs = FIRST_PAUSE_MS
  #cancel: () => void = () => {}
  /** Everything was scanned since that was last due. */
  swept = false

  constructor(work: EmbeddingWork) {
    this.#work = work
  }

  get signal(): AbortSignal {
    return this.#end.signal
  }

  wake(): void {
    this.#isWoken = true
    if (this.signal.aborted) return
    this.#cancel()
    this.#working ??= this.#run().finally(() => {
      this.#working = undefined
      if (this.#isWoken) this.wake()
    })
  }

  /** Resolves when nothing waits, or when the embedder fails. */
  async settled(): Promise<void> {
    while (this.#working) await this.#working
  }

  async close(): Promise<void> {
    this.#end.abort()
    this.#cancel()
    await this.#working
  }

  async #run(): Promise<void> {
    const { log, failure } = this.#work
    const { signal } = this
    try {
      while (this.#isWoken && !signal.aborted) {
        this.#isWoken = false
        await this.#round()
      }
      if (!this.#hasDeletedOthers && !signal.aborted) {
        this.#hasDeletedOthers = true
        await this.#work.deleteOtherEmbedders(signal)
      }
      this.#pauseMs = FIRST_PAUSE_MS
      this.#sleep(POLL_EVERY_MS)
    } catch (error) {
      this.#isWoken = false
      if (signal.aborted) return
      const retryMs = Math.max(this.#pauseMs, requestedWait(error))
      this.#work.onRetry?.(error, retryMs)
      log.warn(failure, { error, retryMs })
      this.#sleep(retryMs)
      this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS)
    }
  }

  async #round(): Promise<void> {
    const { clock } = this.#work
    const { signal } = this
    await this.#work.prepare?.(signal)
    while (!this.swept && !signal.aborted) {
      this.swept = await this.#work.sweep()
      this.#sweptAt = clock.now()
    }
    while (!signal.aborted && (await this.#work.next()));
  }

  #sleep(ms: number): void {
    this.#cancel()
    const { clock } = this.#work
    const ring = () => {
      if (clock.now() - this.#sweptAt >= SWEEP_EVERY_MS) this.swept = false
      this.wake()
    }
    this.#cancel = clock.alarm(ms, ring, "background")
  }
}

/** Chooses the person who was served longest ago, so that a thousand documents do not delay another person's one. */
export class Turns {
  readonly #served = new Map<UserId, number>()
  #count = 0

  /** The next of these people, or of `first`. */
  next(people: readonly UserId[], first: readonly UserId[] = people): UserId | undefined {
    const [next] = first.toSorted((a, b) => (this.#served.get(a) ?? 0) - (this.#served.get(b) ?? 0))
    // A person without waiting items loses their place.
    const waiting = new Set(people)
    for (const person of this.#served.keys()) if (!waiting.has(person)) this.#served.delete(person)
    if (next !== undefined) this.#served.set(next, ++this.#count)
    return next
  }
}

/** Whether an embedder's error may be caused by its input. */
export const isInputError = (error: unknown) =>
  ["provider_error", "context_overflow", "refused"].includes(codeOf(error) ?? "")

/** A text that every working embedder accepts: if it fails, the input before was not the cause. */
export const PROBE = "Is anybody there?"
