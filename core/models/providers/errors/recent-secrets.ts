/** The maximum remembered keys, in total and per person: more than a server uses at a time. */
const MAX = 2000
const MAX_OF_ONE = 100

/** Texts that logs must hide: the operator's secrets, and recently used keys of people. */
export class RecentSecrets implements Iterable<string> {
  readonly #fixed: readonly string[]
  /** By person, least recently used first. Each has a share, so that one person cannot displace all others. */
  readonly #recent = new Map<string, readonly string[]>()
  #count = 0

  constructor(fixed: readonly string[]) {
    this.#fixed = fixed
  }

  /** Called with every use. Previous keys stay within the person's share, because running requests may use them. */
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
