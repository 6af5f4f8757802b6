/** For so long things are begun in one turn of the event loop, one after another; the others wait for the turns after it. */
const TURN_MS = 20

/**
 * Begins things so that others have their turns in between. Most requests are answered without waiting for anything: hundreds
 * that come in one moment would else be answered in a single turn, in which nobody is heard and nothing that was written goes
 * out. So it is with a long text and a thousand who watch it.
 */
export class FairTurns {
  readonly #waiting = new Map<string, (() => void)[]>()
  /** When the first of this turn was begun. */
  #begunAt: number | undefined

  /** Resolves when something of this person, or of this address, may begin; undefined where it may at once. */
  enter(who: string): Promise<void> | undefined {
    if (this.#begunAt === undefined) return this.#begin()
    if (this.#waiting.size === 0 && this.#hasTime) return undefined
    const { promise, resolve } = Promise.withResolvers<void>()
    const theirs = this.#waiting.get(who)
    if (theirs) theirs.push(resolve)
    else this.#waiting.set(who, [resolve])
    return promise
  }

  get #hasTime(): boolean {
    return this.#begunAt !== undefined && performance.now() - this.#begunAt < TURN_MS
  }

  #begin(): undefined {
    this.#begunAt = performance.now()
    setImmediate(() => this.#nextTurn())
  }

  #nextTurn(): void {
    this.#begunAt = undefined
    if (this.#waiting.size === 0) return
    this.#begin()
    this.#next()
  }

  /** Each in turn: who asks for a thousand things waits for them, and hardly anybody else does. */
  #next(): void {
    const [first] = this.#waiting
    if (!first) return
    const [who, theirs] = first
    this.#waiting.delete(who)
    const go = theirs.shift()
    if (theirs.length > 0) this.#waiting.set(who, theirs)
    go?.()
    // All of it that waits for nothing but promises is done before a tick that is asked for among them.
    queueMicrotask(() => process.nextTick(() => this.#hasTime && this.#next()))
  }
}
