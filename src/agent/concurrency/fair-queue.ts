import { failure } from "../../protocol/errors.ts"

export interface FairLimits {
  /** At the same time, of everybody and of one person. */
  readonly atOnce: number
  readonly perPerson: number
  /** At most this many pieces of work of one person may wait; the next is refused. */
  readonly waiting: number
  /** What somebody has too many of, in their words. */
  readonly what?: string
}

export type Keep = (until: Promise<unknown>) => void

/** Work of many people: so much at a time, and people in turn, so that nobody waits behind all that somebody else wants. */
export class FairQueue {
  readonly #limits: FairLimits
  /** In the order in which people have their turns: whoever had one goes to the end. */
  readonly #waiting = new Map<string, (() => void)[]>()
  readonly #running = new Map<string, number>()
  #busy = 0

  constructor(limits: FairLimits) {
    this.#limits = limits
  }

  /**
   * Throws `too_many` where the person has enough waiting, and what the signal was aborted with while one waits. The work
   * may keep its person's place for something that goes on after its answer; nobody else waits for that.
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
    const { waiting, what = "queries of yours" } = this.#limits
    if (line.length >= waiting) throw failure("too_many", { what, most: waiting })
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
      // In the same moment, or somebody who comes now takes the place as well.
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
