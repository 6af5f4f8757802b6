/** How many keys of people are remembered for the log: more than a server has in use at a time. */
const MAX = 500

/** What no log line may hold: the operator's secrets, and the keys of people that were used last. */
export class RecentSecrets implements Iterable<string> {
  readonly #fixed: readonly string[]
  readonly #recent = new Set<string>()

  constructor(fixed: readonly string[]) {
    this.#fixed = fixed
  }

  add(secret: string): void {
    this.#recent.delete(secret)
    this.#recent.add(secret)
    const [oldest] = this.#recent
    if (this.#recent.size > MAX && oldest !== undefined) this.#recent.delete(oldest)
  }

  *[Symbol.iterator](): Iterator<string> {
    yield* this.#fixed
    yield* this.#recent
  }
}
