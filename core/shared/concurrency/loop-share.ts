/** Smaller pieces come from a stream that arrives word by word. */
const SMALL = 1024
/**
 * The pieces of a round: one is for the stream that has waited longest, and one is a small piece. The others are of the
 * oldest stream.
 */
const ROUND = 4

interface Waiting {
  readonly amount: number
  /** The number of its stream. A greater number started later. */
  readonly stream: number
  readonly go: () => void
}

/**
 * Shares the event loop among streams that may deliver more than it can handle at once: only so much of all of them is
 * passed on in each turn, and the rest waits. A stream's data is processed in microtasks, which run before sockets and
 * timers, so a few hundred fast streams blocked the loop for seconds.
 *
 * The oldest stream goes first. In order of arrival all of them would end together, and be in memory as a whole. One
 * piece in four is for the stream that has waited longest, so that all make progress, and one for streams that arrive
 * word by word, because a reader is waiting for those.
 */
export class LoopShare {
  readonly #perTurn: number
  readonly #waiting: Waiting[] = []
  #streams = 0
  #used = 0
  #handedOn = 0
  #isScheduled = false

  constructor(perTurn: number) {
    this.#perTurn = perTurn
  }

  /**
   * Returns a function for a new stream. Its result is undefined if there is capacity in this turn, else a promise that
   * resolves when there is.
   */
  join(): (amount: number) => Promise<void> | undefined {
    const stream = this.#streams++
    return (amount) => this.#take(amount, stream)
  }

  #take(amount: number, stream: number): Promise<void> | undefined {
    if (!this.#isScheduled) {
      this.#isScheduled = true
      setImmediate(() => this.#nextTurn())
    }
    if (this.#waiting.length === 0 && this.#used < this.#perTurn) {
      this.#used += amount
      return undefined
    }
    return new Promise((go) => this.#waiting.push({ amount, stream, go }))
  }

  #nextTurn(): void {
    this.#used = 0
    this.#isScheduled = this.#waiting.length > 0
    while (this.#waiting.length > 0 && this.#used < this.#perTurn) {
      const [{ amount, go }] = this.#waiting.splice(this.#whoIsNext(), 1) as [Waiting]
      this.#used += amount
      go()
    }
    if (this.#isScheduled) setImmediate(() => this.#nextTurn())
  }

  /** The index of the next piece; they are in order of arrival. */
  #whoIsNext(): number {
    const turn = this.#handedOn++ % ROUND
    if (turn === 0) return 0
    const small = turn === 2 ? this.#waiting.findIndex(({ amount }) => amount < SMALL) : -1
    if (small !== -1) return small
    let oldest = 0
    for (let at = 1; at < this.#waiting.length; at++)
      if (this.#waiting[at]!.stream < this.#waiting[oldest]!.stream) oldest = at
    return oldest
  }
}
