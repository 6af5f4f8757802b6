import type { Clock } from "../../shared/time/clock.ts"
import type { Log } from "../../shared/log.ts"
import { codeOf } from "../../protocol/errors.ts"
import type { UserId } from "../../protocol/ids.ts"
import { waitAskedBy } from "../../shared/time/words.ts"

/** What another process left lying is found by looking: at what waits, which is little, often; at everything seldom. */
const LOOK_EVERY_MS = 2000
const SWEEP_EVERY_MS = 10 * 60_000
export const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 5 * 60_000

/** What is made findable by its meaning, and how. */
export interface EmbeddingWork {
  readonly clock: Clock
  readonly log: Log
  /** What the log calls it when it does not succeed. */
  readonly failure: string
  /** Notes what does not wait and should. True when there is nothing left of it. */
  sweep(): Promise<boolean>
  /** Some of what waits. False when nothing waits for this process. */
  next(): Promise<boolean>
  /** A look at every vector: once in a process's life. */
  forgetOthers(signal: AbortSignal): Promise<void>
  /** Before what waits is looked at. */
  prepare?(signal: AbortSignal): Promise<void>
  /** When it is tried again later, after so many milliseconds. */
  gaveUp?(error: unknown, retryMs: number): void
}

/** Works while something waits, looks again now and then, and after a failure later and later. */
export class EmbeddingLoop {
  readonly #work: EmbeddingWork
  readonly #end = new AbortController()
  #working: Promise<void> | undefined
  #again = false
  #sweptAt = 0
  #othersForgotten = false
  #pauseMs = FIRST_PAUSE_MS
  #cancel: () => void = () => {}
  /** Everything was looked through since that was due. */
  swept = false

  constructor(work: EmbeddingWork) {
    this.#work = work
  }

  get signal(): AbortSignal {
    return this.#end.signal
  }

  wake(): void {
    this.#again = true
    if (this.signal.aborted) return
    this.#cancel()
    this.#working ??= this.#run().finally(() => {
      this.#working = undefined
      if (this.#again) this.wake()
    })
  }

  /** Resolves when nothing waits any more, or when the embedder does not answer. */
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
      while (this.#again && !signal.aborted) {
        this.#again = false
        await this.#round()
      }
      if (!this.#othersForgotten && !signal.aborted) {
        this.#othersForgotten = true
        await this.#work.forgetOthers(signal)
      }
      this.#pauseMs = FIRST_PAUSE_MS
      this.#sleep(LOOK_EVERY_MS)
    } catch (error) {
      this.#again = false
      if (signal.aborted) return
      const retryMs = Math.max(this.#pauseMs, waitAskedBy(error))
      this.#work.gaveUp?.(error, retryMs)
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

/** Whose turn it is: who was served longest ago, so that one with a thousand documents does not hold up one with one. */
export class Turns {
  readonly #served = new Map<UserId, number>()
  #count = 0

  /** Of all who wait, or of some of them where these come first. */
  next(people: readonly UserId[], first: readonly UserId[] = people): UserId | undefined {
    const [next] = first.toSorted((a, b) => (this.#served.get(a) ?? 0) - (this.#served.get(b) ?? 0))
    // Who waits for nothing any more begins anew.
    const waiting = new Set(people)
    for (const person of this.#served.keys()) if (!waiting.has(person)) this.#served.delete(person)
    if (next !== undefined) this.#served.set(next, ++this.#count)
    return next
  }
}

/** Whether an embedder's error may be about the text that it was given, and not about everything. */
export const mayBeTheText = (error: unknown) =>
  ["provider_error", "context_overflow", "refused"].includes(codeOf(error) ?? "")

/** Which text can be embedded wherever anything can: where it is not, the fault is not in what was given before. */
export const PROBE = "Is anybody there?"
