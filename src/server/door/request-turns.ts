import type { MiddlewareHandler } from "hono"
import type { Env } from "./request-env.ts"

/** For so long requests are begun in one turn of the event loop, one after another; the others wait for the turns after it. */
const TURN_MS = 20

/**
 * Begins requests so that others have their turns in between. Most are answered without waiting for anything: hundreds that
 * come in one moment would else be answered in a single turn, in which nobody is heard and nothing that was written goes out.
 */
export class RequestTurns {
  readonly #waiting = new Map<string, (() => void)[]>()
  /** When the first request of this turn was begun. */
  #begunAt: number | undefined

  /** Resolves when a request of this person or address may begin; undefined where it may at once. */
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

/**
 * Before it is known who asks: thousands of connections over which nobody has been known yet may ask in one moment, and every
 * refusal takes its time, too.
 */
export function beginInTurns(): MiddlewareHandler<Env> {
  const turns = new RequestTurns()
  return async (c, next) => {
    const turn = turns.enter(c.get("source").address ?? "")
    if (turn) await turn
    await next()
  }
}
