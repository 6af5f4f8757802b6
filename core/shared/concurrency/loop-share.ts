/** Pieces of so many bytes are those of a stream that comes word by word. */
const SMALL = 1024
/** Of so many that are handed on one is for who has waited longest and one for a small piece; the others are of the oldest stream. */
const ROUND = 4

interface Waiting {
  readonly amount: number
  /** Which stream it is of: the number is larger the later that began. */
  readonly stream: number
  readonly go: () => void
}

/**
 * Shares the event loop among streams that may bring more than it can handle at once: so much of all of them together is
 * handed on per turn of it, and the rest waits. What a stream brings is worked on in microtasks, before which no socket or
 * timer has its turn: with a few hundred fast streams the loop was held for seconds.
 *
 * Who began first goes first. In the order of asking all would come to their ends together, and all of them be in memory
 * whole. Every fourth is for who has waited longest, so that all go on, and another fourth for streams that come word by word,
 * before which nobody should wait.
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

  /** For a stream that begins now. What it gives is undefined where there is room in this turn, else resolves when there is. */
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

  /** Its place among those that wait, who stand in the order of asking. */
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
