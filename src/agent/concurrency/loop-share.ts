/**
 * Shares the event loop among streams that may bring more than it can handle at once: so much of all of them together is
 * handed on per turn of it, and the rest waits in the order of asking. What a stream brings is worked on in microtasks, before
 * which no socket or timer has its turn: with a few hundred fast streams the loop was held for seconds.
 */
export class LoopShare {
  readonly #perTurn: number
  readonly #waiting: { readonly amount: number; readonly go: () => void }[] = []
  #used = 0
  #isScheduled = false

  constructor(perTurn: number) {
    this.#perTurn = perTurn
  }

  /** Undefined where there is room in this turn; otherwise resolves in the turn in which there is. */
  take(amount: number): Promise<void> | undefined {
    if (!this.#isScheduled) {
      this.#isScheduled = true
      setImmediate(() => this.#nextTurn())
    }
    if (this.#waiting.length === 0 && this.#used < this.#perTurn) {
      this.#used += amount
      return undefined
    }
    return new Promise((go) => this.#waiting.push({ amount, go }))
  }

  #nextTurn(): void {
    this.#used = 0
    let served = 0
    for (; served < this.#waiting.length && this.#used < this.#perTurn; served++) {
      const { amount, go } = this.#waiting[served]!
      this.#used += amount
      go()
    }
    this.#waiting.splice(0, served)
    this.#isScheduled = served > 0
    if (served > 0) setImmediate(() => this.#nextTurn())
  }
}
