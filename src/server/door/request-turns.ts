import type { UserId } from "../../protocol/ids.ts"

/** For so long requests are begun in one turn of the event loop, one after another; the others wait for the turns after it. */
const TURN_MS = 20

/**
 * Begins requests so that others have their turns in between. Most are answered without waiting for anything: hundreds that
 * come in one moment would else be answered in a single turn, in which nobody is heard and nothing that was written goes out.
 */
export class RequestTurns {
  readonly #waiting = new Map<UserId, (() => void)[]>()
  /** When the first request of this turn was begun. */
  #begunAt: number | undefined

  /** Resolves when a request of this person may begin; undefined where it may at once. */
  enter(user: UserId): Promise<void> | undefined {
    if (this.#begunAt === undefined) return this.#begin()
    if (this.#waiting.size === 0 && this.#hasTime) return undefined
    const { promise, resolve } = Promise.withResolvers<void>()
    const theirs = this.#waiting.get(user)
    if (theirs) theirs.push(resolve)
    else this.#waiting.set(user, [resolve])
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

  /** Each person in turn: who asks for a thousand things waits for them, and hardly anybody else does. */
  #next(): void {
    const [first] = this.#waiting
    if (!first) return
    const [user, theirs] = first
    this.#waiting.delete(user)
    const go = theirs.shift()
    if (theirs.length > 0) this.#waiting.set(user, theirs)
    go?.()
    // All of it that waits for nothing but promises is done before a tick that is asked for among them.
    queueMicrotask(() => process.nextTick(() => this.#hasTime && this.#next()))
  }
}
