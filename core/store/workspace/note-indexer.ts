import { createHash } from "node:crypto"
import { setTimeout as pause } from "node:timers/promises"
import type { Clock } from "../../shared/time/clock.ts"
import type { Log } from "../../shared/log.ts"
import type { UserId } from "../../protocol/ids.ts"
import { textOfNote } from "../../shared/text/note-text.ts"
import type { Embedder } from "../../protocol/workspace.ts"
import { EmbeddingLoop, FIRST_PAUSE_MS, mayBeTheText, PROBE, Turns } from "../library/embedding-loop.ts"
import { type IndexedNote, SqlNoteVectors } from "./note-vectors.ts"
import type { SqlWorkspaces } from "./workspaces.ts"

interface Needs {
  readonly workspaces: SqlWorkspaces
  readonly vectors: SqlNoteVectors
  readonly embedder: Embedder
  readonly clock: Clock
  readonly log: Log
}

/** Embedded at a time: few enough that somebody who waits for a note of theirs does not wait for long. */
const MAX_NOTES = 16
const MAX_CHARACTERS = 8000
/** Notes that the embedder could not take whose tries are counted. */
const MAX_REFUSED = 10_000
/** While somebody waits for what another process is at work on, for at most their patience. */
const LOOK_SOON_MS = 50
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
  readonly #loop: EmbeddingLoop
  readonly #turns = new Turns()
  readonly #wanted = new Map<UserId, (() => void)[]>()
  /** How often the embedder could not take a note, as it was then. */
  readonly #refused = new Map<string, { updatedAt: number; tries: number }>()
  readonly #unlisten: () => void
  #begun = false

  constructor(needs: Needs) {
    const { vectors, clock, log } = needs
    this.#needs = needs
    this.#loop = new EmbeddingLoop({
      ...{ clock, log, failure: "notes_not_indexed" },
      sweep: () => this.#sweep(),
      next: () => this.#next(),
      forgetOthers: () => vectors.forgetOthers(),
      prepare: () => this.#begin(),
      // Who waits is told: they search what there is.
      gaveUp: () => this.#serveAll(),
    })
    vectors.caughtUp = (person) => this.#caughtUp(person)
    this.#unlisten = needs.workspaces.onChange((person, changes) => {
      const notes = changes.filter(({ table }) => table === "notes")
      if (notes.some(({ row }) => row !== null)) this.#want(person)
      // A file that cannot be removed now is looked for again: it holds nothing that anybody reads.
      if (notes.some(({ row }) => row === null)) vectors.indexes.removed(person).catch(() => {})
    })
    this.wake()
  }

  /** Looks whether there is something to do. */
  wake(): void {
    this.#loop.wake()
  }

  async close(): Promise<void> {
    this.#unlisten()
    const closing = this.#loop.close()
    this.#serveAll()
    await closing
  }

  /** Files of what is gone, which a process that died may have left; and what it had begun with goes on now. */
  async #begin(): Promise<void> {
    const { vectors } = this.#needs
    if (!this.#begun) await vectors.indexes.sweep("remove")
    if (!this.#begun) await vectors.freeDead()
    this.#begun = true
  }

  async #sweep(): Promise<boolean> {
    const { vectors, workspaces } = this.#needs
    // What another node has removed is still in a file of this one.
    if (workspaces.engine.manyMachines) await vectors.indexes.sweep("leave")
    return vectors.sweep()
  }

  #want(person: UserId, served?: () => void): void {
    if (this.#loop.signal.aborted) return served?.()
    this.#wanted.set(person, [...(this.#wanted.get(person) ?? []), ...(served ? [served] : [])])
    this.wake()
  }

  /** Tells those who have asked before what is known now was read: others may wait for a later note. */
  #served(person: UserId, asked = this.#wanted.get(person) ?? []): void {
    const later = this.#wanted.get(person)?.filter((tell) => !asked.includes(tell)) ?? []
    if (later.length > 0) this.#wanted.set(person, later)
    else this.#wanted.delete(person)
    for (const tell of asked) tell()
  }

  #serveAll(): void {
    for (const person of [...this.#wanted.keys()]) this.#served(person)
  }

  /** Asked first, because most of the time nothing waits; then not longer than somebody likes to wait for an answer. */
  async #caughtUp(person: UserId): Promise<void> {
    const { vectors, clock } = this.#needs
    if (this.#loop.swept && !(await vectors.isWaiting(person))) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = clock.alarm(PATIENCE_MS, resolve)
    this.#want(person, resolve)
    await promise
    cancel()
    const others = this.#wanted.get(person)?.filter((tell) => tell !== resolve)
    if (others) this.#wanted.set(person, others)
  }

  /** Some notes of whoever waits, else of anybody, in turns. False when nothing is left to do. */
  async #next(): Promise<boolean> {
    const { vectors } = this.#needs
    const wanted = new Map(this.#wanted)
    const people = await vectors.waitingPeople()
    let waitedFor = false
    for (const [person, asked] of wanted) {
      if (people.includes(person)) continue
      // What another process is at work on is waited for by whoever searches: here it would be made a second time.
      if (asked.length > 0 && (await vectors.isAtWork(person))) waitedFor = true
      else this.#served(person, asked)
    }
    const first = people.filter((person) => wanted.has(person))
    const person = this.#turns.next(people, first.length > 0 ? first : people)
    if (person === undefined) {
      // Not by the clock of this process: it is the other one that is waited for.
      if (waitedFor) await pause(LOOK_SOON_MS, undefined, { signal: this.#loop.signal })
      return waitedFor
    }
    const claimed = await vectors.claim(person, MAX_NOTES)
    try {
      for (let rest = claimed; rest.length > 0 && !this.#loop.signal.aborted;) {
        const some = portion(rest)
        rest = rest.slice(some.length)
        await this.#index(some)
        // Somebody has come who waits for theirs.
        if ([...this.#wanted.keys()].some((each) => each !== person)) break
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
    const { signal } = this.#loop
    const texts = notes.map(({ text }) => text)
    try {
      return await embedder.embed(texts, signal)
    } catch (error) {
      if (!mayBeTheText(error)) throw error
      // Where nothing at all is embedded, it is not them.
      await embedder.embed([PROBE], signal)
    }
    const made: (Float32Array | undefined)[] = []
    for (const note of notes) {
      try {
        made.push((await embedder.embed([note.text], signal))[0])
        this.#refused.delete(note.id)
      } catch (error) {
        if (!mayBeTheText(error)) throw error
        made.push(undefined)
        await this.#putAside(note, error)
      }
    }
    return made
  }

  /** For a while, for every process; what is written anew is tried at once. */
  async #putAside({ id, person, updatedAt }: IndexedNote, error: unknown): Promise<void> {
    const { clock, log, vectors } = this.#needs
    const before = this.#refused.get(id)
    const tries = (before?.updatedAt === updatedAt ? before.tries : 0) + 1
    const pauseMs = Math.min(FIRST_PAUSE_MS * 10 * 2 ** tries, 60 * 60_000)
    // Of more than these the oldest begin anew: notes that are gone are never asked about again.
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
