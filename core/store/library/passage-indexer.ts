import { type Clock, monotonicOf } from "../../shared/time/clock.ts"
import type { Log } from "../../shared/log.ts"
import { AppError } from "../../protocol/errors.ts"
import type { Embedder } from "../../protocol/workspace.ts"
import { addGrams, clearEditions } from "./editions.ts"
import { EmbeddingLoop, mayBeTheText, PROBE, Turns } from "./embedding-loop.ts"
import type { SqlLibrary } from "./library.ts"
import type { EmbeddedPassages, WaitingPassages, WaitingPassage } from "./passage-vectors.ts"

export interface IndexerNeeds {
  readonly library: SqlLibrary
  readonly embedder: Embedder
  readonly clock: Clock
  readonly log: Log
}

/** Embedded at a time: enough for several threads, few enough that little is lost with a process that dies. */
const MAX_PASSAGES = 64
/** Where several people wait: nobody waits long for another's. */
const MAX_OF_EACH = 16

interface Portion extends WaitingPassages {
  readonly passages: readonly WaitingPassage[]
}

/**
 * Makes passages findable by what they mean, and clears away editions that nobody reads any more. What is to be done is a
 * question to the database, so nothing of it can be lost, whoever added the document and whenever a process dies.
 */
export class PassageIndexer {
  readonly #needs: IndexerNeeds
  readonly #loop: EmbeddingLoop
  readonly #unlisten: () => void
  readonly #turns = new Turns()
  #gramsAdded = false
  #begun = false

  constructor(needs: IndexerNeeds) {
    const { library, clock, log } = needs
    this.#needs = needs
    this.#loop = new EmbeddingLoop({
      ...{ clock, log, failure: "passages_not_indexed" },
      sweep: () => this.#sweep(),
      next: () => this.#next(),
      forgetOthers: (signal) => library.vectors.forgetOthers(signal),
      prepare: (signal) => this.#tidy(signal),
      gaveUp: (error, retryMs) => this.#gaveUp(error, retryMs),
    })
    this.#unlisten = library.onChange(() => this.wake())
    this.wake()
  }

  wake(): void {
    this.#loop.wake()
  }

  /** Resolves when nothing waits any more, or when the embedder does not answer. */
  settled(): Promise<void> {
    return this.#loop.settled()
  }

  close(): Promise<void> {
    this.#unlisten()
    return this.#loop.close()
  }

  async #tidy(signal: AbortSignal): Promise<void> {
    const { library } = this.#needs
    // Before all else: a process that died may have left files of what is gone.
    if (!this.#begun) await library.vectors.indexes.sweep("remove")
    // What such a process had begun with goes on now, and not when its time is up.
    if (!this.#begun) await library.vectors.freeDead()
    this.#begun = true
    while (!this.#gramsAdded && !signal.aborted) this.#gramsAdded = await addGrams(library.engine)
  }

  async #sweep(): Promise<boolean> {
    const { vectors, engine } = this.#needs.library
    // What another node has removed is still in a file of this one.
    if (engine.manyMachines) await vectors.indexes.sweep("leave")
    return vectors.sweep()
  }

  #gaveUp(error: unknown, retryMs: number): void {
    const { library, clock } = this.#needs
    // What is no error of ours may hold anything: it is in the log.
    const problem =
      error instanceof AppError ? error.message : "Passages cannot be embedded now: the server's log says why."
    library.ingests.trouble = { problem, since: monotonicOf(clock), retryAt: clock.now() + retryMs }
  }

  /** Some of what nobody reads any more, and some passages: whose hundred thousand documents go hold up nobody's new one. */
  async #next(): Promise<boolean> {
    const isMore = await this.#clear()
    try {
      return (await this.#embedSome()) || isMore
    } catch (error) {
      // What is gone goes also where nothing can be embedded.
      while (!this.#loop.signal.aborted && (await this.#clear()));
      throw error
    }
  }

  #clear(): Promise<boolean> {
    const { library, clock } = this.#needs
    return clearEditions(library.engine, clock.now(), this.#loop.signal)
  }

  /** Some passages of whose turn it is, of as many documents as it takes. False when nothing waits for this process. */
  async #embedSome(): Promise<boolean> {
    const { vectors, ingests } = this.#needs.library
    const waiting = await vectors.waitingPeople()
    // Whichever process has added it, and whichever is at work on it: whoever looks sees how far it is.
    for (const { person: each } of waiting) ingests.tell(each)
    const people = waiting.flatMap(({ person: each, isFree }) => (isFree ? [each] : []))
    const person = this.#turns.next(people)
    if (person === undefined) return false
    const most = people.length > 1 ? MAX_OF_EACH : MAX_PASSAGES
    const claimed = await vectors.claim(person, most)
    try {
      const portions: Portion[] = []
      let left = most
      for (const waiting of claimed) {
        if (left === 0) break
        const passages = await vectors.passagesOf(waiting, left)
        left -= passages.length
        if (passages.length > 0) portions.push({ ...waiting, passages })
        else await vectors.drop(waiting) // its document went while it was noted
      }
      // Refused where a document was replaced meanwhile, or another node has done it: then there is something else to do.
      if (portions.length > 0) await vectors.keep(await this.#embed(portions))
      ingests.trouble = undefined
    } finally {
      await vectors.release(claimed)
    }
    return true
  }

  async #embed(portions: readonly Portion[]): Promise<EmbeddedPassages[]> {
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
    const { signal } = this.#loop
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

/** With what it stands under: a passage by itself often does not say what it is about. */
function toText({ title, heading, text }: WaitingPassage): string {
  const headings = (JSON.parse(heading) as string[]).filter((each) => each !== title)
  const under = [title, ...headings].join(" › ")
  return text.startsWith(title) ? text : `${under}\n\n${text}`
}
