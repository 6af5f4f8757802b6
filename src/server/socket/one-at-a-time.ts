/** Lets one speak at a time, in the order they asked. */
export class Floor {
  #last: Promise<void> = Promise.resolve()

  /** Resolves when it is one's turn, with how to end it. */
  async take(): Promise<() => void> {
    const before = this.#last
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last = promise
    await before
    return resolve
  }
}
