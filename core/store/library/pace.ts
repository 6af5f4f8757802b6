/** Older steps say nothing about the current speed. */
const WINDOW_MS = 2 * 60_000
/** The minimum period of a measurement. */
const MIN_PERIOD_MS = 3000
/** After this many average pauses without a step, the count has stalled. */
const STALLED_AFTER_PAUSES = 4
const LONGEST_PAUSE_MS = 30_000

/**
 * The speed of a growing count, measured by repeated reads. The count grows in steps, so periods are measured between
 * steps; from the first read to the first step would be too short.
 */
export class Pace {
  #steps: { readonly count: number; readonly at: number }[] = []
  #lastCount: number | undefined

  /** `at`: the monotonic clock. */
  see(count: number, at: number): void {
    if (this.#lastCount !== undefined && count < this.#lastCount) this.#steps = []
    if (this.#lastCount !== undefined && count > this.#lastCount) this.#steps.push({ count, at })
    this.#lastCount = count
    this.#steps = this.#steps.filter((step) => at - step.at <= WINDOW_MS)
  }

  /** When the count last grew; -Infinity if it never did. */
  get steppedAt(): number {
    return this.#steps.at(-1)?.at ?? -Infinity
  }

  /** Seconds until it has grown by this much; undefined if that is unknown or the count has stalled. */
  secondsFor(more: number, at: number): number | undefined {
    const [first, last] = [this.#steps[0], this.#steps.at(-1)]
    if (!first || !last || last.at - first.at < MIN_PERIOD_MS) return undefined
    const sinceLast = at - last.at
    const pause = (last.at - first.at) / (this.#steps.length - 1)
    if (sinceLast > Math.max(LONGEST_PAUSE_MS, STALLED_AFTER_PAUSES * pause)) return undefined
    const ms = (more * (last.at - first.at)) / (last.count - first.count) - sinceLast
    return Math.max(1, Math.ceil(ms / 1000))
  }
}
