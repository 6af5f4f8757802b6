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

/** A mutex for each key: work under one key runs one after the other, in order of asking; other keys are not delayed. */
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

  /** Resolves when nothing is under way any more. */
  async idle(): Promise<void> {
    while (this.#tails.size > 0) await Promise.allSettled(this.#tails.values())
  }
}

/**
 * Work that is done one at a time, and once more where it was asked for meanwhile: what is under way may have begun too
 * early to see what it was asked for. The promise is kept when all of that is done.
 */
export function onceMore(work: () => Promise<void>): () => Promise<void> {
  let isWanted = false
  let working: Promise<void> | undefined
  const round = async () => {
    try {
      while (isWanted) {
        isWanted = false
        await work().catch((error: unknown) => {
          if (!isWanted) throw error // otherwise it is tried for whoever asked meanwhile, and for those before them
        })
      }
    } finally {
      // In one step with the last look at what is wanted: in a `finally` of the promise it would come a moment later, and
      // whoever asked in between would be told that it is under way when nobody works any more.
      working = undefined
    }
  }
  return () => {
    isWanted = true
    return (working ??= round())
  }
}
