import { createHash } from "node:crypto"
import { setTimeout as pause } from "node:timers/promises"
import type { Clock } from "../../shared/time/clock.ts"
import type { Log } from "../../shared/log.ts"
import type { UserId } from "../../protocol/ids.ts"
import { textOfNote } from "../../shared/text/text.ts"
import type { Embedder } from "../../protocol/workspace.ts"
import { EmbeddingLoop, FIRST_PAUSE_MS, isInputError, PROBE, Turns } from "../library/embedding-loop.ts"
import { type IndexedNote, SqlNoteVectors } from "./note-vectors.ts"
import type { SqlWorkspaces } from "./workspaces.ts"

interface NoteIndexerOptions {
  readonly workspaces: SqlWorkspaces
  readonly vectors: SqlNoteVectors
  readonly embedder: Embedder
  readonly clock: Clock
  readonly log: Log
}

/** Embedded at a time: few enough that a person who waits for a note is served soon. */
const MAX_NOTES = 16
const MAX_CHARACTERS = 8000
/** The maximum of notes whose failures are counted. */
const MAX_REFUSED = 10_000
/** Polling while a search waits for another process, up to this time. */
const POLL_MS = 50
const MAX_WAIT_MS = 5000

/** Starts indexing the notes of these workspaces. */
export function indexNotes(options: Omit<NoteIndexerOptions, "vectors">): NoteIndexer {
  const { workspaces, embedder, clock } = options
  const vectors = new SqlNoteVectors(workspaces.engine, embedder.name, { clock })
  workspaces.vectors = vectors
  return new NoteIndexer({ ...options, vectors })
}

/**
 * Embeds notes. The work is queried from the database, so none is lost when a process fails. People who wait for a
 * search come first.
 */
export class NoteIndexer {
  readonly #options: NoteIndexerOptions
  readonly #loop: EmbeddingLoop
  readonly #turns = new Turns()
  readonly #waiting = new Map<UserId, (() => void)[]>()
  /** How often the embedder failed on a note, and the note's version. */
  readonly #refused = new Map<string, { updatedAt: number; tries: number }>()
  readonly #unsubscribe: () => void
  #isPrepared = false

  constructor(options: NoteIndexerOptions) {
    const { vectors, clock, log } = options
    this.#options = options
    this.#loop = new EmbeddingLoop({
      ...{ clock, log, failure: "notes_not_indexed" },
      sweep: () => this.#sweep(),
      next: () => this.#next(),
      deleteOtherEmbedders: () => vectors.deleteOtherEmbedders(),
      prepare: () => this.#prepare(),
      // Searches stop waiting and use what is indexed.
      onRetry: () => this.#resolveAll(),
    })
    vectors.caughtUp = (person) => this.#caughtUp(person)
    this.#unsubscribe = options.workspaces.onChange((person, changes) => {
      const notes = changes.filter(({ table }) => table === "notes")
      if (notes.some(({ row }) => row !== null)) this.#wait(person)
      // A file that cannot be removed now is found by the next sweep; deleted notes in it are ignored.
      if (notes.some(({ row }) => row === null)) vectors.indexes.removed(person).catch(() => {})
    })
    this.wake()
  }

  /** Looks for work. */
  wake(): void {
    this.#loop.wake()
  }

  async close(): Promise<void> {
    this.#unsubscribe()
    const closing = this.#loop.close()
    this.#resolveAll()
    await closing
  }

  /** Deletes files that a failed process left, and continues its work. */
  async #prepare(): Promise<void> {
    const { vectors } = this.#options
    if (!this.#isPrepared) await vectors.indexes.sweep("remove")
    if (!this.#isPrepared) await vectors.releaseStale()
    this.#isPrepared = true
  }

  async #sweep(): Promise<boolean> {
    const { vectors, workspaces } = this.#options
    // Another node may have removed notes that are still in files of this one.
    if (workspaces.engine.manyMachines) await vectors.indexes.sweep("leave")
    return vectors.sweep()
  }

  #wait(person: UserId, served?: () => void): void {
    if (this.#loop.signal.aborted) return served?.()
    this.#waiting.set(person, [...(this.#waiting.get(person) ?? []), ...(served ? [served] : [])])
    this.wake()
  }

  /** Notifies those who waited before the last read: others may wait for a later note. */
  #resolve(person: UserId, waiters = this.#waiting.get(person) ?? []): void {
    const later = this.#waiting.get(person)?.filter((tell) => !waiters.includes(tell)) ?? []
    if (later.length > 0) this.#waiting.set(person, later)
    else this.#waiting.delete(person)
    for (const tell of waiters) tell()
  }

  #resolveAll(): void {
    for (const person of [...this.#waiting.keys()]) this.#resolve(person)
  }

  /** First checks whether anything waits, because usually nothing does. Then waits for a limited time. */
  async #caughtUp(person: UserId): Promise<void> {
    const { vectors, clock } = this.#options
    if (this.#loop.swept && !(await vectors.isWaiting(person))) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = clock.alarm(MAX_WAIT_MS, resolve)
    this.#wait(person, resolve)
    await promise
    cancel()
    const others = this.#waiting.get(person)?.filter((tell) => tell !== resolve)
    if (others) this.#waiting.set(person, others)
  }

  /** Embeds some notes of a waiting person, or else of any person, in turns. False if no note is left. */
  async #next(): Promise<boolean> {
    const { vectors } = this.#options
    const waiting = new Map(this.#waiting)
    const people = await vectors.waitingPeople()
    let waitedFor = false
    for (const [person, waiters] of waiting) {
      if (people.includes(person)) continue
      // Another process is embedding the note; a second vector would be wasted.
      if (waiters.length > 0 && (await vectors.isAtWork(person))) waitedFor = true
      else this.#resolve(person, waiters)
    }
    const first = people.filter((person) => waiting.has(person))
    const person = this.#turns.next(people, first.length > 0 ? first : people)
    if (person === undefined) {
      // In real time, because another process has to act.
      if (waitedFor) await pause(POLL_MS, undefined, { signal: this.#loop.signal })
      return waitedFor
    }
    const claimed = await vectors.claim(person, MAX_NOTES)
    try {
      for (let rest = claimed; rest.length > 0 && !this.#loop.signal.aborted;) {
        const some = portion(rest)
        rest = rest.slice(some.length)
        await this.#index(some)
        // Someone else has started to wait.
        if ([...this.#waiting.keys()].some((each) => each !== person)) break
      }
    } finally {
      await vectors.release(
        person,
        claimed.map(({ id }) => id),
      )
    }
    return true
  }

  async #index(notes: readonly IndexedNote[]): Promise<void> {
    const { vectors, embedder } = this.#options
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

  /** Embeds all notes at once. If that fails and one of them may be the cause, one by one. */
  async #embed(notes: readonly (IndexedNote & { text: string })[], embedder: Embedder) {
    const { signal } = this.#loop
    const texts = notes.map(({ text }) => text)
    try {
      return await embedder.embed(texts, signal)
    } catch (error) {
      if (!isInputError(error)) throw error
      // If this fails, too, no note is the cause.
      await embedder.embed([PROBE], signal)
    }
    const made: (Float32Array | undefined)[] = []
    for (const note of notes) {
      try {
        made.push((await embedder.embed([note.text], signal))[0])
        this.#refused.delete(note.id)
      } catch (error) {
        if (!isInputError(error)) throw error
        made.push(undefined)
        await this.#defer(note, error)
      }
    }
    return made
  }

  /** Defers a note for all processes. An edited note is tried at once. */
  async #defer({ id, person, updatedAt }: IndexedNote, error: unknown): Promise<void> {
    const { clock, log, vectors } = this.#options
    const before = this.#refused.get(id)
    const tries = (before?.updatedAt === updatedAt ? before.tries : 0) + 1
    const pauseMs = Math.min(FIRST_PAUSE_MS * 10 * 2 ** tries, 60 * 60_000)
    // The oldest are forgotten: deleted notes never come up again.
    const [oldest] = this.#refused.keys()
    if (oldest !== undefined && this.#refused.size >= MAX_REFUSED) this.#refused.delete(oldest)
    this.#refused.delete(id)
    this.#refused.set(id, { updatedAt, tries })
    await vectors.release(person, [id], clock.now() + pauseMs)
    log.warn("note_not_indexed", { note: id, error, retryMs: pauseMs })
  }
}

function portion(notes: readonly IndexedNote[]): IndexedNote[] {
  let characters = 0
  const end = notes.findIndex(({ content }, i) => i > 0 && (characters += content.length) > MAX_CHARACTERS)
  return notes.slice(0, Math.min(end === -1 ? notes.length : end, MAX_NOTES))
}
