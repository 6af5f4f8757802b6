/** What is older says nothing about how fast it goes now. */
const WINDOW_MS = 2 * 60_000
/** Shorter than this says little. */
const LEAST_MS = 3000
/** Where nothing has come for so many of the usual pauses, it stands still. */
const PAUSES = 4
const LONGEST_PAUSE_MS = 30_000

/**
 * How fast a count grows, as seen by whoever looks at it now and then. It grows in steps, so time is taken from one step to
 * another: from the first look to the first step would be shorter than a step takes.
 */
export class Pace {
  #steps: { readonly count: number; readonly at: number }[] = []
  #seen: number | undefined

  /** `at`: by a clock that only ever goes forward. */
  see(count: number, at: number): void {
    if (this.#seen !== undefined && count < this.#seen) this.#steps = []
    if (this.#seen !== undefined && count > this.#seen) this.#steps.push({ count, at })
    this.#seen = count
    this.#steps = this.#steps.filter((step) => at - step.at <= WINDOW_MS)
  }

  /** When it last became more; long ago where that was never seen. */
  get steppedAt(): number {
    return this.#steps.at(-1)?.at ?? -Infinity
  }

  /** How long so much more takes, if it goes on like this; undefined until that can be told, and where it stands still. */
  secondsFor(more: number, at: number): number | undefined {
    const [first, last] = [this.#steps[0], this.#steps.at(-1)]
    if (!first || !last || last.at - first.at < LEAST_MS) return undefined
    const since = at - last.at
    const pause = (last.at - first.at) / (this.#steps.length - 1)
    if (since > Math.max(LONGEST_PAUSE_MS, PAUSES * pause)) return undefined
    const ms = (more * (last.at - first.at)) / (last.count - first.count) - since
    return Math.max(1, Math.ceil(ms / 1000))
  }
}
