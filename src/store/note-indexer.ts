import { createHash } from "node:crypto"
import type { Clock } from "../agent/clock.ts"
import type { Log } from "../agent/ports.ts"
import { codeOf } from "../protocol/errors.ts"
import type { UserId } from "../protocol/ids.ts"
import { textOfNote } from "../protocol/note-text.ts"
import type { Embedder } from "../protocol/workspace-port.ts"
import { waitAskedBy } from "../protocol/time-words.ts"
import { type IndexedNote, SqlNoteVectors } from "./note-vectors.ts"
import type { Workspaces } from "./workspaces.ts"

interface Needs {
  readonly workspaces: Workspaces
  readonly vectors: SqlNoteVectors
  readonly embedder: Embedder
  readonly clock: Clock
  readonly log: Log
}

/** Embedded at a time: few enough that somebody who waits for a note of theirs does not wait for long. */
const MOST_NOTES = 16
/** Read at a time. */
const PAGE = 64
/** When so many in a row fail, it is not them. */
const MOST_IN_A_ROW = 3
const MOST_CHARACTERS = 8000
/** What another node left lying is found by looking now and then. */
const LOOK_EVERY_MS = 10 * 60_000
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 5 * 60_000
const PATIENCE_MS = 5000

/** Begins to keep the notes of these workspaces findable by their meaning. */
export function indexNotes(needs: Omit<Needs, "vectors">): NoteIndexer {
  const { workspaces, embedder, clock } = needs
  const vectors = new SqlNoteVectors(workspaces.engine, embedder.name, { clock })
  workspaces.vectors = vectors
  return new NoteIndexer({ ...needs, vectors })
}

/**
 * Makes notes findable by what they mean, by itself: what is to be done is a question to the database, so nothing of it
 * can be lost, whoever wrote the note and whenever a process dies. People who wait for theirs come first.
 */
export class NoteIndexer {
  readonly #needs: Needs
  readonly #end = new AbortController()
  readonly #wanted = new Map<UserId, (() => void)[]>()
  /** Notes that the embedder could not take, as they were then: set aside until then. */
  readonly #setAside = new Map<string, { updatedAt: number; until: number; tries: number }>()
  readonly #unlisten: () => void
  #working: Promise<void> | undefined
  #again = false
  #pauseMs = FIRST_PAUSE_MS
  #failedInARow = 0
  /** All notes were looked through since the last look was due. */
  #swept = false
  #othersForgotten = false
  #cancel: () => void = () => {}

  constructor(needs: Needs) {
    this.#needs = needs
    needs.vectors.caughtUp = (person) => this.#caughtUp(person)
    this.#unlisten = needs.workspaces.onChange((person, changes) => {
      if (changes.some(({ table, row }) => table === "notes" && row !== null)) this.#want(person)
    })
    this.wake()
  }

  /** Looks whether there is something to do. */
  wake(): void {
    this.#again = true
    if (this.#end.signal.aborted) return
    this.#cancel()
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined
      if (this.#again) this.wake()
    })
  }

  async close(): Promise<void> {
    this.#unlisten()
    this.#end.abort()
    this.#cancel()
    for (const person of [...this.#wanted.keys()]) this.#served(person)
    await this.#working
  }

  #want(person: UserId, served?: () => void): void {
    if (this.#end.signal.aborted) return served?.()
    this.#wanted.set(person, [...(this.#wanted.get(person) ?? []), ...(served ? [served] : [])])
    this.wake()
  }

  #served(person: UserId): void {
    const waiting = this.#wanted.get(person) ?? []
    this.#wanted.delete(person)
    for (const tell of waiting) tell()
  }

  /** Asked first, because most of the time nothing waits; then not longer than somebody likes to wait for an answer. */
  async #caughtUp(person: UserId): Promise<void> {
    const { vectors, clock } = this.#needs
    if (this.#swept && !(await vectors.isWaiting(person))) return
    await new Promise<void>((resolve) => {
      const cancel = clock.alarm(PATIENCE_MS, resolve)
      this.#want(person, () => {
        cancel()
        resolve()
      })
    })
  }

  async #work(): Promise<void> {
    const { vectors, log, clock } = this.#needs
    try {
      while (this.#again && !this.#end.signal.aborted) {
        this.#again = false
        while (!this.#swept && !this.#end.signal.aborted) this.#swept = await vectors.sweep()
        while (!this.#end.signal.aborted && (await this.#next()));
      }
      if (!this.#othersForgotten && !this.#end.signal.aborted) {
        this.#othersForgotten = true // a look at every vector: once in a process's life
        await vectors.forgetOthers()
      }
      this.#pauseMs = FIRST_PAUSE_MS
      this.#sleep(LOOK_EVERY_MS, () => (this.#swept = false))
    } catch (error) {
      this.#again = false
      if (this.#end.signal.aborted) return
      // Who waits is told: they search what there is.
      for (const person of [...this.#wanted.keys()]) this.#served(person)
      const retryMs = Math.max(this.#pauseMs, waitAskedBy(error))
      log.warn("notes_not_indexed", { error, retryMs, at: clock.now() })
      this.#sleep(retryMs)
      this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS)
    }
  }

  #sleep(ms: number, then: () => void = () => {}): void {
    this.#cancel()
    const ring = () => {
      then()
      this.wake()
    }
    this.#cancel = this.#needs.clock.alarm(ms, ring, "background")
  }

  /** Some notes of whoever waits, else of anybody. False when nothing is left to do. */
  async #next(): Promise<boolean> {
    const [person] = this.#wanted.keys()
    const room = PAGE + this.#setAside.size
    const waiting = this.#ready(await this.#needs.vectors.waiting(room, person))
    if (person !== undefined) {
      if (waiting.length === 0) {
        this.#served(person)
        return true
      }
      // Behind the others who wait: one who has ten thousand does not hold up one who has one.
      const telling = this.#wanted.get(person)!
      this.#wanted.delete(person)
      this.#wanted.set(person, telling)
    }
    if (waiting.length === 0) return false
    let rest = waiting
    do {
      const some = portion(rest)
      rest = rest.slice(some.length)
      await this.#index(some)
    } while (rest.length > 0 && this.#wanted.size === 0 && !this.#end.signal.aborted)
    return true
  }

  #ready(notes: readonly IndexedNote[]): IndexedNote[] {
    const now = this.#needs.clock.now()
    return notes.filter(({ id, updatedAt }) => {
      const aside = this.#setAside.get(id)
      return !aside || aside.updatedAt !== updatedAt || aside.until <= now
    })
  }

  async #index(notes: readonly IndexedNote[]): Promise<void> {
    const { vectors, embedder } = this.#needs
    const texts = notes.map(textOfNote)
    const hashes = texts.map((text) => createHash("sha256").update(text).digest("hex"))
    const known = notes.filter((note, i) => note.hash === hashes[i])
    for (const note of known) await vectors.confirm(note)
    const fresh = notes.flatMap((note, i) =>
      note.hash === hashes[i] ? [] : [{ ...note, text: texts[i]!, hash: hashes[i]! }],
    )
    if (fresh.length === 0) return
    const made = await this.#embed(fresh, embedder)
    await vectors.keep(fresh.flatMap((note, i) => (made[i] ? [{ ...note, vector: made[i] }] : [])))
  }

  /** All at once; where that fails and it may be one of them, one by one. */
  async #embed(notes: readonly (IndexedNote & { text: string })[], embedder: Embedder) {
    const { signal } = this.#end
    const texts = notes.map(({ text }) => text)
    try {
      const vectors = await embedder.embed(texts, signal)
      this.#failedInARow = 0
      return vectors
    } catch (error) {
      if (!mayBeTheText(error)) throw error
    }
    const made: (Float32Array | undefined)[] = []
    for (const note of notes) {
      try {
        made.push((await embedder.embed([note.text], signal))[0])
        this.#setAside.delete(note.id)
        this.#failedInARow = 0
      } catch (error) {
        if (!mayBeTheText(error) || ++this.#failedInARow > MOST_IN_A_ROW) throw error
        made.push(undefined)
        this.#putAside(note, error)
      }
    }
    return made
  }

  #putAside({ id, updatedAt }: IndexedNote, error: unknown): void {
    const { clock, log } = this.#needs
    const tries = (this.#setAside.get(id)?.tries ?? 0) + 1
    const pauseMs = Math.min(FIRST_PAUSE_MS * 10 * 2 ** tries, 60 * 60_000)
    this.#setAside.set(id, { updatedAt, tries, until: clock.now() + pauseMs })
    log.warn("note_not_indexed", { note: id, error, retryMs: pauseMs })
  }
}

const mayBeTheText = (error: unknown) => ["provider_error", "context_overflow", "refused"].includes(codeOf(error) ?? "")

function portion(notes: readonly IndexedNote[]): IndexedNote[] {
  let characters = 0
  const end = notes.findIndex(({ content }, i) => i > 0 && (characters += content.length) > MOST_CHARACTERS)
  return notes.slice(0, Math.min(end === -1 ? notes.length : end, MOST_NOTES))
}
