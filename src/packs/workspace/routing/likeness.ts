import { type Clock, systemClock } from "../../../agent/clock.ts"
import type { Profile } from "../../../agent/definition/profile.ts"
import type { Embedder } from "../../../protocol/ports/workspace.ts"

interface Example {
  readonly profile: string
  readonly vector: Float32Array
}

/** The person waits for an answer, not for a guess which tools it may need. */
const PATIENCE_MS = 200

/**
 * How much words are like the examples of profiles. The embedder is begun with when it is first needed, and whoever
 * needs it before it is ready goes without: nobody's turn waits for a model to be read from disk.
 */
export class Likeness {
  readonly #embedder: Embedder
  readonly #clock: Clock
  /** The examples of an agent, once they have been read; undefined in it while they are being. */
  readonly #examples = new WeakMap<
    readonly Profile[],
    { found: readonly Example[] | undefined; reading: Promise<void> }
  >()

  constructor(embedder: Embedder, clock: Clock = systemClock) {
    this.#embedder = embedder
    this.#clock = clock
  }

  /** By profile: the cosine to the example that is nearest. Undefined where the embedder is not ready, or cannot say. */
  scores(
    words: string,
    profiles: readonly Profile[],
    signal: AbortSignal,
  ): Promise<Record<string, number> | undefined> {
    return new Promise((resolve) => {
      const late = new AbortController()
      const end = (scores?: Record<string, number>) => {
        cancel()
        signal.removeEventListener("abort", stop)
        late.abort()
        resolve(scores)
      }
      const stop = () => end()
      const cancel = this.#clock.alarm(PATIENCE_MS, stop, "background")
      signal.addEventListener("abort", stop, { once: true })
      if (signal.aborted) stop()
      this.#scores(words, profiles, late.signal).then(end, stop)
    })
  }

  async #scores(words: string, profiles: readonly Profile[], signal: AbortSignal) {
    const examples = await this.#read(profiles)
    signal.throwIfAborted()
    const [vector] = await this.#embedder.embed([words], signal)
    if (!vector || !examples) return undefined
    const scores: Record<string, number> = {}
    for (const { profile, vector: example } of examples) {
      const score = Math.round(cosine(vector, example) * 1000) / 1000
      if (Number.isFinite(score)) scores[profile] = Math.max(scores[profile] ?? -1, score)
    }
    return scores
  }

  async #read(profiles: readonly Profile[]): Promise<readonly Example[] | undefined> {
    const known = this.#examples.get(profiles) ?? this.#begin(profiles)
    await known.reading
    return known.found
  }

  #begin(profiles: readonly Profile[]) {
    const all = profiles.flatMap(({ name, examples }) => examples.map((text) => ({ profile: name, text })))
    // For everybody who comes: nobody's leaving stops it.
    const signal = new AbortController().signal
    const entry = { found: undefined as readonly Example[] | undefined, reading: Promise.resolve() }
    entry.reading = (async () => {
      try {
        const vectors = await this.#embedder.embed(
          all.map(({ text }) => text),
          signal,
        )
        entry.found = all.flatMap(({ profile }, index) => {
          const vector = vectors[index]
          return vector ? [{ profile, vector }] : []
        })
      } catch {
        this.#examples.delete(profiles) // the next one tries again
      }
    })()
    this.#examples.set(profiles, entry)
    return entry
  }
}

function cosine(a: Float32Array, b: Float32Array): number {
  let [dot, x, y] = [0, 0, 0]
  for (let index = 0; index < a.length; index++) {
    const [p, q] = [a[index] ?? 0, b[index] ?? 0]
    dot += p * q
    x += p * p
    y += q * q
  }
  return dot / Math.sqrt(x * y)
}
