/** At most `count` pieces of work at a time; the others wait and begin in order of asking. */
export class Semaphore {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free++
    }
  }

  /** For work that is no single call: resolves when its turn has come, with the function that ends the turn. */
  take(): Promise<() => void> {
    return new Promise((begin) => void this.run(() => new Promise<void>((end) => begin(() => end()))))
  }
}
