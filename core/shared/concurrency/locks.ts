/** Runs at most `count` tasks at a time. The others wait and start in order. */
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

  /** For work that is not a single call: resolves at its turn, with the function that ends the turn. */
  take(): Promise<() => void> {
    return new Promise((begin) => void this.run(() => new Promise<void>((end) => begin(() => end()))))
  }
}

/** A mutex per key: work under one key runs one after the other, in order, and does not delay other keys. */
export class KeyedLock<Key = string> {
  readonly #tails = new Map<Key, Promise<unknown>>()

  run<T>(key: Key, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key)
    const mine = before ? before.then(work, work) : work()
    this.#tails.set(key, mine)
    const done = () => {
      if (this.#tails.get(key) === mine) this.#tails.delete(key)
    }
    mine.then(done, done)
    return mine
  }

  /** Resolves when no work is in progress. */
  async idle(): Promise<void> {
    while (this.#tails.size > 0) await Promise.allSettled(this.#tails.values())
  }
}

/**
 * Runs work one at a time, and once more if it was requested meanwhile, because work in progress may have started too
 * early for the request. The promise resolves when all of it is done.
 */
export function onceMore(work: () => Promise<void>): () => Promise<void> {
  let isWanted = false
  let working: Promise<void> | undefined
  const round = async () => {
    try {
      while (isWanted) {
        isWanted = false
        await work().catch((error: unknown) => {
          if (!isWanted) throw error // otherwise it is repeated for the callers that came meanwhile
        })
      }
    } finally {
      // In the same step as the last check: in the promise's `finally` it would come a moment later, and a caller in
      // between would wait for work that no longer runs.
      working = undefined
    }
  }
  return () => {
    isWanted = true
    return (working ??= round())
  }
}
