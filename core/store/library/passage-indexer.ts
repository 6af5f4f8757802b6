import { type Clock, monotonicOf } from "../../shared/time/clock.ts"
import type { Log } from "../../shared/log.ts"
import { AppError } from "../../protocol/errors.ts"
import type { Embedder } from "../../protocol/workspace.ts"
import { addGrams, deleteEditions } from "./editions.ts"
import { EmbeddingLoop, isInputError, PROBE, Turns } from "./embedding-loop.ts"
import type { SqlLibrary } from "./library.ts"
import type { EmbeddedPassages, WaitingPassages, WaitingPassage } from "./passage-vectors.ts"

export interface IndexerOptions {
  readonly library: SqlLibrary
  readonly embedder: Embedder
  readonly clock: Clock
  readonly log: Log
}

/** Embedded at a time: enough for several threads, and little is lost if the process fails. */
const MAX_PASSAGES = 64
/** A smaller share if several people wait, so that none waits long. */
const MAX_PER_PERSON = 16

interface Portion extends WaitingPassages {
  readonly passages: readonly WaitingPassage[]
}

/**
 * Embeds passages, and deletes editions that no document refers to. The work is queried from the database, so none is
 * lost when a process fails.
 */
export class PassageIndexer {
  readonly #options: IndexerOptions
  readonly #loop: EmbeddingLoop
  readonly #unsubscribe: () => void
  readonly #turns = new Turns()
  #gramsAdded = false
  #isPrepared = false

  constructor(options: IndexerOptions) {
    const { library, clock, log } = options
    this.#options = options
    this.#loop = new EmbeddingLoop({
      ...{ clock, log, failure: "passages_not_indexed" },
      sweep: () => this.#sweep(),
      next: () => this.#next(),
      deleteOtherEmbedders: (signal) => library.vectors.deleteOtherEmbedders(signal),
      prepare: (signal) => this.#prepare(signal),
      onRetry: (error, retryMs) => this.#onRetry(error, retryMs),
    })
    this.#unsubscribe = library.onChange(() => this.wake())
    this.wake()
  }

  wake(): void {
    this.#loop.wake()
  }

  /** Resolves when nothing waits, or when the embedder fails. */
  settled(): Promise<void> {
    return this.#loop.settled()
  }

  close(): Promise<void> {
    this.#unsubscribe()
    return this.#loop.close()
  }

  async #prepare(signal: AbortSignal): Promise<void> {
    const { library } = this.#options
    // First: a failed process may have left files of deleted documents.
    if (!this.#isPrepared) await library.vectors.indexes.sweep("remove")
    // Continues the work of a failed process now, and not when its claims expire.
    if (!this.#isPrepared) await library.vectors.releaseStale()
    this.#isPrepared = true
    while (!this.#gramsAdded && !signal.aborted) this.#gramsAdded = await addGrams(library.engine)
  }

  async #sweep(): Promise<boolean> {
    const { vectors, engine } = this.#options.library
    // Another node may have removed documents that are still in files of this one.
    if (engine.manyMachines) await vectors.indexes.sweep("leave")
    return vectors.sweep()
  }

  #onRetry(error: unknown, retryMs: number): void {
    const { library, clock } = this.#options
    // Other errors are not shown to people; they are in the log.
    const problem =
      error instanceof AppError ? error.message : "Passages cannot be embedded now: the server's log says why."
    library.ingests.trouble = { problem, since: monotonicOf(clock), retryAt: clock.now() + retryMs }
  }

  /** Deletes some editions and embeds some passages, so that deleting many documents does not delay a new one. */
  async #next(): Promise<boolean> {
    const isMore = await this.#clear()
    try {
      return (await this.#embedSome()) || isMore
    } catch (error) {
      // Deletions continue if nothing can be embedded.
      while (!this.#loop.signal.aborted && (await this.#clear()));
      throw error
    }
  }

  #clear(): Promise<boolean> {
    const { library, clock } = this.#options
    return deleteEditions(library.engine, clock.now(), this.#loop.signal)
  }

  /** Embeds passages of the next person, from several documents. False if there is nothing for this process. */
  async #embedSome(): Promise<boolean> {
    const { vectors, ingests } = this.#options.library
    const waiting = await vectors.waitingPeople()
    // Clients see the progress, whichever process does the work.
    for (const { person: each } of waiting) ingests.tell(each)
    const people = waiting.flatMap(({ person: each, isFree }) => (isFree ? [each] : []))
    const person = this.#turns.next(people)
    if (person === undefined) return false
    const most = people.length > 1 ? MAX_PER_PERSON : MAX_PASSAGES
    const claimed = await vectors.claim(person, most)
    try {
      const portions: Portion[] = []
      let left = most
      for (const waiting of claimed) {
        if (left === 0) break
        const passages = await vectors.passagesOf(waiting, left)
        left -= passages.length
        if (passages.length > 0) portions.push({ ...waiting, passages })
        else await vectors.drop(waiting) // its document was deleted meanwhile
      }
      // Refused if a document was replaced or another node was faster.
      if (portions.length > 0) await vectors.keep(await this.#embed(portions))
      ingests.trouble = undefined
    } finally {
      await vectors.release(claimed)
    }
    return true
  }

  async #embed(portions: readonly Portion[]): Promise<EmbeddedPassages[]> {
    const { embedder } = this.#options
    const texts = portions.flatMap(({ passages }) => passages.map(toText))
    const made = await this.#vectorsOf(texts, embedder)
    let at = 0
    return portions.map(({ passages, ...waiting }) => {
      const vectors = made.slice(at, (at += passages.length))
      return { ...waiting, vectors }
    })
  }

  /**
   * Embeds all texts at once. If that fails and one of them may be the cause, one by one; passages without a vector are
   * found by words only.
   */
  async #vectorsOf(texts: readonly string[], embedder: Embedder): Promise<(Float32Array | undefined)[]> {
    const { signal } = this.#loop
    try {
      return await embedder.embed(texts, signal)
    } catch (error) {
      if (!isInputError(error)) throw error
      // If this fails, too, no text is the cause.
      await embedder.embed([PROBE], signal)
    }
    const made: (Float32Array | undefined)[] = []
    for (const text of texts) {
      try {
        made.push((await embedder.embed([text], signal))[0])
      } catch (error) {
        if (!isInputError(error)) throw error
        this.#options.log.warn("passage_not_indexed", { error, characters: text.length })
        made.push(undefined)
      }
    }
    return made
  }
}

/** With its headings, because a passage alone often does not name its subject. */
function toText({ title, heading, text }: WaitingPassage): string {
  const headings = (JSON.parse(heading) as string[]).filter((each) => each !== title)
  const under = [title, ...headings].join(" › ")
  return text.startsWith(title) ? text : `${under}\n\n${text}`
}
