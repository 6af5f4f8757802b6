/** How many keys of people are remembered for the log, of everybody and of one: more than a server has in use at a time. */
const MAX = 2000
const MAX_OF_ONE = 100

/** What no log line may hold: the operator's secrets, and the keys of people that were used last. */
export class RecentSecrets implements Iterable<string> {
  readonly #fixed: readonly string[]
  /** By person; those that were used last come last. Each has a share, so that nobody's pushes everybody else's out. */
  readonly #recent = new Map<string, readonly string[]>()
  #count = 0

  constructor(fixed: readonly string[]) {
    this.#fixed = fixed
  }

  /** Told with every use. What a person had before is remembered as far as their share goes: something may still run with it. */
  add(person: string, secrets: readonly string[]): void {
    const before = this.#drop(person)
    const isKnown = before.length >= secrets.length && secrets.every((secret, at) => before[at] === secret)
    const all = isKnown ? before : [...new Set([...secrets, ...before])].slice(0, MAX_OF_ONE)
    if (all.length === 0) return
    this.#recent.set(person, all)
    this.#count += all.length
    for (const oldest of this.#recent.keys()) {
      if (this.#count <= MAX) return
      this.#drop(oldest)
    }
  }

  #drop(person: string): readonly string[] {
    const secrets = this.#recent.get(person) ?? []
    this.#recent.delete(person)
    this.#count -= secrets.length
    return secrets
  }

  *[Symbol.iterator](): Iterator<string> {
    yield* this.#fixed
    for (const secrets of this.#recent.values()) yield* secrets
  }
}
