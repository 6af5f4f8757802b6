import type { Clock } from "../agent/clock.ts"
import type { Log } from "../agent/ports.ts"
import { codeOf } from "../protocol/errors.ts"
import type { UserId } from "../protocol/ids.ts"
import type { Embedder } from "../protocol/workspace-port.ts"
import { waitAskedBy } from "../protocol/time-words.ts"
import { addGrams, clearEditions } from "./editions.ts"
import type { SqlLibrary } from "./library.ts"
import type { Embedded, Waiting, WaitingPassage } from "./passage-vectors.ts"

export interface IndexerNeeds {
  readonly library: SqlLibrary
  readonly embedder: Embedder
  readonly clock: Clock
  readonly log: Log
}

/** Embedded at a time: few enough that a question that somebody asks meanwhile does not wait for long. */
const MOST_PASSAGES = 16
/** What another process left lying is found by looking: at what waits, which is little, often; at all documents seldom. */
const LOOK_EVERY_MS = 2000
const SWEEP_EVERY_MS = 10 * 60_000
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 5 * 60_000
/** Which text can be embedded wherever anything can. */
const PROBE = "Is anybody there?"

interface Portion extends Waiting {
  readonly passages: readonly WaitingPassage[]
}

/**
 * Makes passages findable by what they mean, and clears away editions that nobody reads any more. What is to be done is a
 * question to the database, so nothing of it can be lost, whoever added the document and whenever a process dies.
 */
export class PassageIndexer {
  readonly #needs: IndexerNeeds
  readonly #end = new AbortController()
  readonly #unlisten: () => void
  #working: Promise<void> | undefined
  #again = false
  #swept = false
  #sweptAt = 0
  #othersForgotten = false
  #gramsAdded = false
  readonly #turns = new Turns()
  #pauseMs = FIRST_PAUSE_MS
  #cancel: () => void = () => {}

  constructor(needs: IndexerNeeds) {
    this.#needs = needs
    this.#unlisten = needs.library.onChange(() => this.wake())
    this.wake()
  }

  wake(): void {
    this.#again = true
    if (this.#end.signal.aborted) return
    this.#cancel()
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined
      if (this.#again) this.wake()
    })
  }

  /** Resolves when nothing waits any more, or when the embedder does not answer. */
  async settled(): Promise<void> {
    while (this.#working) await this.#working
  }

  async close(): Promise<void> {
    this.#unlisten()
    this.#end.abort()
    this.#cancel()
    await this.#working
  }

  async #work(): Promise<void> {
    const { library, log, clock } = this.#needs
    const { signal } = this.#end
    try {
      while (this.#again && !signal.aborted) {
        this.#again = false
        await clearEditions(library.engine, clock.now(), signal)
        while (!this.#gramsAdded && !signal.aborted) this.#gramsAdded = await addGrams(library.engine)
        while (!this.#swept && !signal.aborted) {
          this.#swept = await library.vectors.sweep()
          this.#sweptAt = clock.now()
        }
        while (!signal.aborted && (await this.#next()));
      }
      if (!this.#othersForgotten && !signal.aborted) {
        this.#othersForgotten = true
        await library.vectors.forgetOthers(signal)
      }
      this.#pauseMs = FIRST_PAUSE_MS
      this.#sleep(LOOK_EVERY_MS)
    } catch (error) {
      this.#again = false
      if (signal.aborted) return
      const retryMs = Math.max(this.#pauseMs, waitAskedBy(error))
      log.warn("passages_not_indexed", { error, retryMs })
      this.#sleep(retryMs)
      this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS)
    }
  }

  #sleep(ms: number): void {
    this.#cancel()
    const ring = () => {
      const { clock } = this.#needs
      if (clock.now() - this.#sweptAt >= SWEEP_EVERY_MS) this.#swept = false
      this.wake()
    }
    this.#cancel = this.#needs.clock.alarm(ms, ring, "background")
  }

  /** Some passages of whose turn it is, of as many documents as it takes. False when nothing waits for this process. */
  async #next(): Promise<boolean> {
    const { vectors } = this.#needs.library
    const people = await vectors.waitingPeople()
    const person = this.#turns.next(people)
    if (person === undefined) return false
    const claimed = await vectors.claim(person, MOST_PASSAGES)
    try {
      const portions: Portion[] = []
      let left = MOST_PASSAGES
      for (const waiting of claimed) {
        if (left === 0) break
        const passages = await vectors.passagesOf(waiting, left)
        left -= passages.length
        if (passages.length > 0) portions.push({ ...waiting, passages })
        else await vectors.drop(waiting) // its document went while it was noted
      }
      // Refused where a document was replaced meanwhile, or another node has done it: then there is something else to do.
      if (portions.length > 0) await vectors.keep(await this.#embed(portions))
    } finally {
      await vectors.release(claimed)
    }
    return true
  }

  async #embed(portions: readonly Portion[]): Promise<Embedded[]> {
    const { embedder } = this.#needs
    const texts = portions.flatMap(({ passages }) => passages.map(toText))
    const made = await this.#vectorsOf(texts, embedder)
    let at = 0
    return portions.map(({ passages, ...waiting }) => {
      const vectors = made.slice(at, (at += passages.length))
      return { ...waiting, vectors }
    })
  }

  /** All at once; where that fails and it may be one of them, one by one. Without a vector it is found by its words. */
  async #vectorsOf(texts: readonly string[], embedder: Embedder): Promise<(Float32Array | undefined)[]> {
    const { signal } = this.#end
    try {
      return await embedder.embed(texts, signal)
    } catch (error) {
      if (!mayBeTheText(error)) throw error
      // Where nothing at all is embedded, it is not the text.
      await embedder.embed([PROBE], signal)
    }
    const made: (Float32Array | undefined)[] = []
    for (const text of texts) {
      try {
        made.push((await embedder.embed([text], signal))[0])
      } catch (error) {
        if (!mayBeTheText(error)) throw error
        this.#needs.log.warn("passage_not_indexed", { error, characters: text.length })
        made.push(undefined)
      }
    }
    return made
  }
}

/** Whose turn it is: who was served longest ago, so that one with a thousand documents does not hold up one with one. */
class Turns {
  readonly #served = new Map<UserId, number>()
  #count = 0

  next(people: readonly UserId[]): UserId | undefined {
    const [first] = people.toSorted((a, b) => (this.#served.get(a) ?? 0) - (this.#served.get(b) ?? 0))
    // Who waits for nothing any more begins anew.
    const waiting = new Set(people)
    for (const person of this.#served.keys()) if (!waiting.has(person)) this.#served.delete(person)
    if (first !== undefined) this.#served.set(first, ++this.#count)
    return first
  }
}

/** With what it stands under: a passage by itself often does not say what it is about. */
function toText({ title, heading, text }: WaitingPassage): string {
  const headings = (JSON.parse(heading) as string[]).filter((each) => each !== title)
  const under = [title, ...headings].join(" › ")
  return text.startsWith(title) ? text : `${under}\n\n${text}`
}

const mayBeTheText = (error: unknown) => ["provider_error", "context_overflow", "refused"].includes(codeOf(error) ?? "")
