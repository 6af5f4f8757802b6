import pg from "pg"
import { describe, expect, test } from "vitest"
import type { Log } from "../../core/shared/log.ts"
import { MiniLmEmbedder } from "../../labs/minilm/embedder.ts"
import { failure } from "../../core/protocol/errors.ts"
import { newId, type UserId } from "../../core/protocol/ids.ts"
import type { Note } from "../../core/protocol/workspace-tables.ts"
import type { Embedder } from "../../core/protocol/workspace.ts"
import { indexNotes } from "../../core/store/workspace/note-indexer.ts"
import { SqlNoteVectors } from "../../core/store/workspace/note-vectors.ts"
import { openStore, type Store } from "../../core/store/store.ts"
import { anyDatabase, databases, type TemporaryDatabase } from "../support/databases.ts"
import { manyNotes } from "./many-notes.ts"
import { WordEmbedder } from "../support/word-embedder.ts"
import { TurnedClock } from "../../core/engine/turned-clock.fixture.ts"

const signal = new AbortController().signal
const silent: Log = { info() {}, warn() {}, error() {} }

/** The notes of a server, as one process sees them. */
class Shelf {
  readonly store: Store
  readonly embedder: Embedder
  readonly indexer: ReturnType<typeof indexNotes>
  readonly clock: TurnedClock
  readonly warnings: string[] = []

  constructor(store: Store, embedder: Embedder, clock: TurnedClock) {
    this.store = store
    this.embedder = embedder
    this.clock = clock
    const log = { ...silent, warn: (event: string) => this.warnings.push(event) }
    this.indexer = indexNotes({ workspaces: store.workspaces, embedder, clock, log })
  }

  static async open({ url }: TemporaryDatabase, embedder: Embedder = new WordEmbedder()): Promise<Shelf> {
    const clock = new TurnedClock()
    return new Shelf(await openStore({ url, clock }), embedder, clock)
  }

  async put(user: UserId, title: string, content = "", projectId: string | null = null): Promise<Note> {
    const data = { title, content, projectId }
    const { after } = await this.store.workspaceOf(user).edit({ action: "insert", table: "notes", data })
    return after as Note
  }

  edit(user: UserId, id: string, updates: Record<string, unknown>) {
    return this.store.workspaceOf(user).edit({ action: "update", table: "notes", id, updates })
  }

  async find(user: UserId, question: string, options: { limit?: number; projectId?: string } = {}): Promise<string[]> {
    const [numbers] = await this.embedder.embed([question], signal)
    const vector = { embedder: this.embedder.name, numbers: [...numbers!] }
    const found = await this.store.workspaceOf(user).nearest(vector, { limit: 3, ...options })
    return found.map(({ id }) => id)
  }

  waiting = async (user: UserId) => (await this.store.workspaceOf(user).indexing()).waiting

  /** Ends like a killed process: nothing is finished. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.indexer.close()
    await this.store[Symbol.asyncDispose]()
  }
}

const person = () => newId("user") as UserId

describe.each(anyDatabase)("on $name", ({ create }) => {
  test("a note is found by its meaning, among fifty, with other words than its own", async () => {
    await using database = await create()
    const embedder = new MiniLmEmbedder()
    await using shelf = await Shelf.open(database, embedder)
    const ada = person()
    const ids = new Map<string, string>()
    for (const { title, content } of manyNotes) ids.set(title, (await shelf.put(ada, title, content)).id)
    // The real one needs a second or more for all; a search gives up after five by a clock that stands still here.
    const [first] = await shelf.find(ada, "shipping the new version to production", { limit: 1 })
    expect(first).toBe(ids.get("Deployment checklist"))
    expect((await shelf.find(ada, "what should I cook for dinner", { limit: 3 }))[0]).toBe(ids.get("Lentil soup"))
    expect(await shelf.waiting(ada)).toBe(0)
    await embedder.close()
  }, 120_000)

  test("a note that was just written, changed or deleted, by a tool or by hand, is found in its current state", async () => {
    await using database = await create()
    await using shelf = await Shelf.open(database)
    const ada = person()
    const note = await shelf.put(ada, "Garden", "water the tomatoes")
    expect(await shelf.find(ada, "tomatoes")).toEqual([note.id])
    await shelf.edit(ada, note.id, { content: "repair the fence" })
    const other = await shelf.put(ada, "Kitchen", "tomatoes in a tin")
    expect((await shelf.find(ada, "tomatoes"))[0]).toBe(other.id)
    expect((await shelf.find(ada, "fence"))[0]).toBe(note.id)
    await shelf.store.workspaceOf(ada).edit({ action: "delete", table: "notes", id: note.id })
    expect(await shelf.find(ada, "fence")).toEqual([other.id])
    expect(await vectorsOf(shelf.store)).toBe(1)
  })

  test("after two changes in one millisecond the note has the vector of the later one", async () => {
    await using database = await create()
    await using shelf = await Shelf.open(database)
    const ada = person()
    const note = await shelf.put(ada, "N", "apples")
    await shelf.find(ada, "apples")
    await shelf.edit(ada, note.id, { content: "pears" }) // the clock stands still
    await shelf.find(ada, "pears")
    await shelf.edit(ada, note.id, { content: "plums" })
    await shelf.find(ada, "plums")
    expect((shelf.embedder as WordEmbedder).seen.filter((text) => text.startsWith("N\n"))).toEqual([
      "N\n\napples",
      "N\n\npears",
      "N\n\nplums",
    ])
  })

  test("a note that moves to another project is found there, and is not embedded again", async () => {
    await using database = await create()
    await using shelf = await Shelf.open(database)
    const ada = person()
    const workspace = shelf.store.workspaceOf(ada)
    const project = async (name: string) =>
      (await workspace.edit({ action: "insert", table: "projects", data: { name } })).after!.id
    const [home, work] = [await project("Home"), await project("Work")]
    const note = await shelf.put(ada, "Plan", "paint the walls", home)
    expect(await shelf.find(ada, "paint", { projectId: home })).toEqual([note.id])
    shelf.clock.turn(1)
    await shelf.edit(ada, note.id, { projectId: work })
    expect(await shelf.find(ada, "paint", { projectId: work })).toEqual([note.id])
    expect(await shelf.find(ada, "paint", { projectId: home })).toEqual([])
    expect((shelf.embedder as WordEmbedder).seen.filter((text) => text.startsWith("Plan"))).toHaveLength(1)
  })

  test("a search finds only the person's own notes", async () => {
    await using database = await create()
    await using shelf = await Shelf.open(database)
    const [ada, bob] = [person(), person()]
    const hers = await shelf.put(ada, "Secret", "the treasure is under the oak")
    const his = await shelf.put(bob, "Mine", "the treasure is mine")
    expect(await shelf.find(ada, "treasure")).toEqual([hers.id])
    expect(await shelf.find(bob, "treasure")).toEqual([his.id])
    // A vector for another person's note is not stored.
    const vector = { embedder: shelf.embedder.name, numbers: [...(shelf.embedder as WordEmbedder).vectorOf("x")] }
    await shelf.store.workspaceOf(bob).upsertVector({ ...hers, projectId: null }, vector)
    expect(await shelf.find(ada, "treasure")).toEqual([hers.id])
    expect(await vectorsOf(shelf.store)).toBe(2)
  })

  test("if a process dies between a note and its vector, the note is still found later", async () => {
    await using database = await create()
    const ada = person()
    const stuck = new WordEmbedder()
    stuck.held = new Promise(() => {})
    const first = await Shelf.open(database, stuck)
    const note = await first.put(ada, "Garden", "water the tomatoes")
    // Killed: no process shuts down, and the embedder never answers. The database stays.
    await using second = await Shelf.open(database)
    await expect.poll(() => second.clock.pending).toContain(2000)
    second.clock.turn(2 * 60_000) // what it had claimed is free again
    await expect.poll(() => second.waiting(ada)).toBe(0)
    expect(await second.find(ada, "tomatoes")).toEqual([note.id])
    await first.store[Symbol.asyncDispose]()
  })

  test("a vector that arrives late, for a note that has changed or gone, is not stored", async () => {
    await using database = await create()
    const embedder = new WordEmbedder()
    const { promise, resolve } = Promise.withResolvers<void>()
    await using shelf = await Shelf.open(database, embedder)
    const ada = person()
    embedder.held = promise
    const [changed, gone] = [await shelf.put(ada, "A", "apples"), await shelf.put(ada, "B", "bread")]
    await expect.poll(() => embedder.asked).toBeGreaterThan(0) // it has them as they were; the clock stands still
    await shelf.edit(ada, changed.id, { content: "cheese" })
    await shelf.store.workspaceOf(ada).edit({ action: "delete", table: "notes", id: gone.id })
    resolve()
    await expect.poll(() => shelf.waiting(ada)).toBe(0)
    expect(await vectorsOf(shelf.store)).toBe(1)
    expect(await shelf.find(ada, "cheese", { limit: 1 })).toEqual([changed.id])
    expect(embedder.seen).toContain("A\n\ncheese")
  })

  test("a change of the embedder makes all vectors again, by itself, and reports progress", async () => {
    await using database = await create()
    const ada = person()
    const ids: string[] = []
    {
      await using before = await Shelf.open(database, new WordEmbedder("test/old", 64))
      for (let i = 0; i < 40; i++) ids.push((await before.put(ada, `Note ${i}`, `about ${WORDS[i]}`)).id)
      expect((await before.find(ada, `about ${WORDS[3]}`))[0]).toBe(ids[3])
    }
    const embedder = new WordEmbedder("test/new", 128)
    const { promise, resolve } = Promise.withResolvers<void>()
    embedder.held = promise
    await using after = await Shelf.open(database, embedder)
    await expect.poll(() => after.store.workspaceOf(ada).indexing()).toEqual({ waiting: 40, all: 40 })
    resolve()
    await expect.poll(() => after.waiting(ada)).toBe(0)
    expect((await after.find(ada, `about ${WORDS[3]}`))[0]).toBe(ids[3])
    // Vectors of the previous embedder stay a day for a node that may still use them, and go at the first start after that.
    expect(await vectorsOf(after.store)).toBe(80)
    after.clock.turn(25 * 60 * 60_000)
    await after.indexer.close()
    const last = indexNotes({ workspaces: after.store.workspaces, embedder, clock: after.clock, log: silent })
    await expect.poll(() => vectorsOf(after.store)).toBe(40)
    await last.close()
  })

  test("a search waits for the person's own notes, but not forever", async () => {
    await using database = await create()
    const embedder = new WordEmbedder()
    await using shelf = await Shelf.open(database, embedder)
    const [ada, bob] = [person(), person()]
    await shelf.put(bob, "Old", "tomatoes")
    const vector = { embedder: embedder.name, numbers: [...embedder.vectorOf("tomatoes")] }
    await shelf.find(bob, "tomatoes")
    const { promise, resolve } = Promise.withResolvers<void>()
    embedder.held = promise
    await shelf.put(ada, "New", "tomatoes")
    const search = shelf.store.workspaceOf(ada).nearest(vector, { limit: 3 })
    await expect.poll(() => shelf.clock.pending).toContain(5000)
    shelf.clock.turn(5001)
    expect(await search).toEqual([])
    expect(await shelf.waiting(ada)).toBe(1)
    // A person whose notes are all indexed does not wait for other people's.
    expect(await shelf.store.workspaceOf(bob).nearest(vector, { limit: 3 })).toHaveLength(1)
    resolve()
    await expect.poll(() => shelf.waiting(ada)).toBe(0)
  })

  test("an embedder that fails is asked again; a note it refuses delays no other", async () => {
    await using database = await create()
    const embedder = new WordEmbedder()
    await using shelf = await Shelf.open(database, embedder)
    const ada = person()
    embedder.failure = () => failure("rate_limited", { provider: "Test" })
    await shelf.put(ada, "First", "tomatoes")
    await expect.poll(() => shelf.warnings).toContain("notes_not_indexed")
    embedder.failure = (texts) =>
      texts.some((text) => text.includes("poison"))
        ? failure("provider_error", { provider: "Test", problem: "no" })
        : undefined
    await shelf.put(ada, "Bad", "poison")
    await shelf.put(ada, "Good", "cucumbers")
    await expect.poll(() => shelf.waiting(ada)).toBe(1)
    expect(await shelf.find(ada, "cucumbers", { limit: 1 })).toHaveLength(1)
    expect(shelf.warnings).toContain("note_not_indexed")
    embedder.failure = undefined
    // Repeatedly, because the time at which it gives up and sets its alarm may vary.
    const anHourLater = () => (shelf.clock.turn(60 * 60_000), shelf.waiting(ada))
    await expect.poll(anHourLater).toBe(0)
  })

  test("any number of refused notes delay no other", async () => {
    await using database = await create()
    const embedder = new WordEmbedder()
    await using shelf = await Shelf.open(database, embedder)
    const ada = person()
    const { promise, resolve } = Promise.withResolvers<void>()
    embedder.held = promise
    embedder.failure = (texts) =>
      texts.some((text) => text.includes("poison"))
        ? failure("provider_error", { provider: "Test", problem: "no" })
        : undefined
    await shelf.put(ada, "Good", "cucumbers")
    // The newest notes are indexed first.
    for (let n = 0; n < 20; n++) await shelf.put(ada, `Bad ${n}`, "poison")
    resolve()
    await expect.poll(() => shelf.waiting(ada)).toBe(20)
    expect(shelf.warnings).not.toContain("notes_not_indexed")
  })

  test("notes that one node has indexed or removed are known to another at its next search", async () => {
    await using database = await create()
    const ada = person()
    await using one = await Shelf.open(database)
    await using two = await Shelf.open(database)
    const first = await one.put(ada, "A", "tomatoes")
    expect(await one.find(ada, "tomatoes")).toEqual([first.id])
    expect(await two.find(ada, "tomatoes")).toEqual([first.id])
    const second = await one.put(ada, "B", "tomatoes and cheese")
    await expect.poll(() => one.waiting(ada)).toBe(0)
    expect(await two.find(ada, "cheese", { limit: 1 })).toEqual([second.id])
    await one.store.workspaceOf(ada).edit({ action: "delete", table: "notes", id: second.id })
    expect(await two.find(ada, "cheese")).toEqual([first.id])
  })

  test("any text can be indexed: a megabyte, emoji, an empty one", async () => {
    await using database = await create()
    await using shelf = await Shelf.open(database)
    const ada = person()
    const long = await shelf.put(ada, "Long", "tomatoes ".repeat(120_000))
    const smile = await shelf.put(ada, "🙂", "🍅🍅")
    await shelf.put(ada, "Nothing")
    expect((await shelf.find(ada, "tomatoes"))[0]).toBe(long.id)
    expect((await shelf.find(ada, "🍅"))[0]).toBe(smile.id)
  })

  test("erasing a person deletes their vectors too", async () => {
    await using database = await create()
    await using shelf = await Shelf.open(database)
    const { id } = await shelf.store.people.ensure("ada", shelf.clock.now())
    await shelf.put(id, "Secret", "treasure")
    await shelf.find(id, "treasure")
    await shelf.store.retention.erasePerson(id)
    expect(await vectorsOf(shelf.store)).toBe(0)
  })
})

const WORDS = Array.from({ length: 40 }, (_, i) => String.fromCharCode(97 + (i % 26)).repeat(3 + Math.floor(i / 26)))

async function vectorsOf({ engine }: Store): Promise<number> {
  const [row] = await engine.query<{ n: number }>("SELECT count(*) AS n FROM note_vector", [])
  return Number(row!.n)
}

test.each(databases.filter(({ name }) => name === "postgres"))(
  "a note that changes while its vector is confirmed gets another one, on $name",
  async ({ create }) => {
    await using database = await create()
    const clock = new TurnedClock()
    await using store = await openStore({ url: database.url, clock })
    const ada = person()
    const data = { title: "Wings", content: "Lift." }
    const { after } = await store.workspaceOf(ada).edit({ action: "insert", table: "notes", data })
    const vectors = new SqlNoteVectors(store.engine, "words", { clock })
    await vectors.sweep()
    const [note] = await vectors.claim(ada, 1)
    await vectors.keep([{ ...note!, hash: "as it was", vector: Float32Array.of(1, 0) }])
    const other = new pg.Client({ connectionString: database.url })
    await other.connect()
    await other.query("BEGIN; UPDATE workspace SET version = version + 1")
    await other.query("UPDATE note SET content = 'Drag.', updated_at = updated_at + 1")
    await other.query("UPDATE note_vector SET note_updated_at = -1")
    const confirming = vectors.confirm(note!)
    const waiting = "SELECT 1 FROM pg_locks WHERE NOT granted"
    await expect.poll(async () => (await other.query(waiting)).rowCount).toBe(1)
    await other.query("COMMIT")
    await other.end()
    await confirming
    const sql = "SELECT note_updated_at FROM note_vector WHERE note = ?"
    expect(await store.engine.query(sql, [after!.id])).toEqual([{ note_updated_at: -1 }])
  },
)
