interface FairLimits {
  /** The most tasks that run at the same time, in total and per user. */
  readonly atOnce: number
  readonly perPerson: number
  /** The most tasks of one user that may wait. */
  readonly waiting: number
  /** Returns the error for a task that is refused because `most` are already waiting. */
  tooMany(most: number): Error
}

export type Keep = (until: Promise<unknown>) => void

/** Limits concurrent tasks and takes users in turn, so that one user's many tasks do not delay the other users. */
export class FairQueue {
  readonly #limits: FairLimits
  /** In the order of turns: a user whose task was started moves to the end. */
  readonly #waiting = new Map<string, (() => void)[]>()
  readonly #running = new Map<string, number>()
  #busy = 0

  constructor(limits: FairLimits) {
    this.#limits = limits
  }

  /**
   * Runs the task when it is its turn. Throws `tooMany` if the user has too many waiting tasks, and the signal's reason if it
   * aborts before the turn. With `keep` the task occupies the user's slot, but no other user's, until a promise settles.
   */
  async run<T>(person: string, signal: AbortSignal, work: (keep: Keep) => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    if (this.#mayRun(person)) this.#take(person)
    else await this.#wait(person, signal)
    const kept: Promise<unknown>[] = []
    try {
      return await work((until) => void kept.push(until))
    } finally {
      this.#busy--
      if (kept.length === 0) this.#leave(person)
      else {
        this.#next()
        void Promise.allSettled(kept).then(() => this.#leave(person))
      }
    }
  }

  #leave(person: string): void {
    const left = this.#runningOf(person) - 1
    if (left > 0) this.#running.set(person, left)
    else this.#running.delete(person)
    this.#next()
  }

  #wait(person: string, signal: AbortSignal): Promise<void> {
    const line = this.#waiting.get(person) ?? []
    const { waiting } = this.#limits
    if (line.length >= waiting) throw this.#limits.tooMany(waiting)
    this.#waiting.set(person, line)
    return new Promise((resolve, reject) => {
      const leave = () => {
        line.splice(line.indexOf(start), 1)
        if (line.length === 0) this.#waiting.delete(person)
        reject(signal.reason as Error)
      }
      const start = () => {
        signal.removeEventListener("abort", leave)
        resolve()
      }
      line.push(start)
      signal.addEventListener("abort", leave, { once: true })
    })
  }

  #next(): void {
    for (const [person, line] of this.#waiting) {
      if (!this.#mayRun(person)) continue
      const start = line.shift()
      this.#waiting.delete(person)
      if (line.length > 0) this.#waiting.set(person, line)
      // Synchronously, because otherwise a task that arrives now would take the same slot.
      this.#take(person)
      start?.()
      return
    }
  }

  #take(person: string): void {
    this.#busy++
    this.#running.set(person, this.#runningOf(person) + 1)
  }

  #mayRun(person: string): boolean {
    return this.#busy < this.#limits.atOnce && this.#runningOf(person) < this.#limits.perPerson
  }

  #runningOf(person: string): number {
    return this.#running.get(person) ?? 0
  }
}

/** How long tasks are started in one turn of the event loop. The others wait for the next turns. */
const TURN_MS = 20

/**
 * Spreads the start of tasks over turns of the event loop, taking users in turn. Most requests are answered without
 * waiting for anything, so hundreds that arrive at once would be answered in a single turn, in which nothing else is
 * received or sent. The same holds for a long text with a thousand subscribers.
 */
export class FairTurns {
  readonly #waiting = new Map<string, (() => void)[]>()
  /** When the first task of this turn was started. */
  #begunAt: number | undefined

  /** Resolves when a task of this user or address may start; undefined if it may start at once. */
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

  /** One task per user in turn, so that a user with a thousand tasks delays the others little. */
  #next(): void {
    const [first] = this.#waiting
    if (!first) return
    const [who, theirs] = first
    this.#waiting.delete(who)
    const go = theirs.shift()
    if (theirs.length > 0) this.#waiting.set(who, theirs)
    go?.()
    // Everything that waits only for promises is done before a tick that is requested among them.
    queueMicrotask(() => process.nextTick(() => this.#hasTime && this.#next()))
  }
}
