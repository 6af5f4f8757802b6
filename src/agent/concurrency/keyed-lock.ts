/** One at a time per key, in order of asking. */
export class Locks {
  readonly #tails = new Map<string, Promise<unknown>>()

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key)
    const mine = before ? before.then(work, work) : work()
    this.#tails.set(key, mine)
    const done = () => {
      if (this.#tails.get(key) === mine) this.#tails.delete(key)
    }
    mine.then(done, done)
    return mine
  }
}
