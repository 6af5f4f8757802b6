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
