import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { newId, type UserId } from "../../core/protocol/ids.ts"
import type { ReadDocument } from "../../core/engine/library.ts"
import { cutPassages } from "../../packs/research/passages/cut-passages.ts"
import { openStore, type Store } from "../../core/store/store.ts"
import { rarestWords } from "../../core/store/engine/full-text.ts"
import { SqlLibrary } from "../../core/store/library/library.ts"
import { PassageIndexer } from "../../core/store/library/passage-indexer.ts"
import { failure } from "../../core/protocol/errors.ts"
import { databasesInTurn } from "../support/databases.ts"
import { WordEmbedder } from "../support/word-embedder.ts"
import { TurnedClock } from "../support/loop/world.ts"

const log = { info() {}, warn() {}, error() {} }
const page = { limit: 50 }

function documentOf(source: string, text: string, more: Partial<ReadDocument> = {}): ReadDocument {
  const sections = [{ headings: [], start: 0, end: text.length }]
  const passages = cutPassages(text, sections, { most: 200, least: 20 })
  const common = { source, kind: "text", title: source, authors: [], date: null } as const
  return { ...common, hash: `hash of ${text}`, text, passages, ...more }
}

/** Long enough to be written in several transactions. */
const long = (word: string) => `${word} stands here among others. `.repeat(1500)

test("if all words are in too many passages, the rarest are searched, and two at least", () => {
  const counts = [
    { word: "flow", passages: 900 },
    { word: "ogive", passages: 5 },
    { word: "wing", passages: 60 },
  ]
  expect(rarestWords(counts, 100)).toEqual(["ogive", "wing"])
  expect(rarestWords(counts, 2)).toEqual(["ogive", "wing"])
  expect(rarestWords(counts, 1000)).toEqual(["ogive", "wing", "flow"])
})

describe.each(databasesInTurn(import.meta.filename))("the library on $name", ({ create }) => {
  const embedder = new WordEmbedder()
  let store: Store
  let library: SqlLibrary
  let clock: TurnedClock

  const open = () => new SqlLibrary(store.engine, { clock, embedder: embedder.name })
  const person = async (name: string) => (await store.people.ensure(`${name}${Math.random()}`, 0)).id
  const index = async (over = library) => {
    const indexer = new PassageIndexer({ library: over, embedder, clock, log })
    await indexer.settled()
    await indexer.close()
  }
  const search = (user: UserId, text: string, more = {}) =>
    library.search(user, {
      text,
      limit: 10,
      vector: { embedder: embedder.name, numbers: [...embedder.vectorOf(text)] },
      ...more,
    })
  const count = async (table: string, user: UserId) =>
    Number(
      (await store.engine.query<{ n: number }>(`SELECT count(*) AS n FROM ${table} WHERE person = ?`, [user]))[0]!.n,
    )

  beforeAll(async () => {
    clock = new TurnedClock()
    store = await openStore({ url: (await create()).url, durability: "normal", clock })
    library = open()
  })
  afterAll(() => store[Symbol.asyncDispose]())

  test("a passage that got its vector first does not outrank better passages that still wait for theirs", async () => {
    const ada = await person("ada")
    const { id } = await library.createCollection(ada, "Partly embedded")
    await library.keep(ada, id, documentOf("auk.txt", "What auks eat when they swim is fish."))
    await index()
    for (const name of ["hoopoe", "bulbul", "drongo"])
      await library.keep(
        ada,
        id,
        documentOf(`${name}.txt`, `The ${name} eats insects. What a ${name} eats it catches.`),
      )
    const [first] = await search(ada, "what does a hoopoe eat when it eats insects?")
    expect(first?.source).toBe("hoopoe.txt")
    expect(await library.progress(ada)).toEqual({ embedded: 1, passages: 4 })
    await index()
    expect(await library.progress(ada)).toBeUndefined()
  })

  test("another embedder computes all vectors again, and the old ones are deleted after a day", async () => {
    const ada = await person("ada")
    const { id } = await library.createCollection(ada, "Change")
    const { id: document } = await library.keep(ada, id, documentOf("a.txt", "Swallows."))
    await index()
    const other = new WordEmbedder("test/other", 64)
    const anew = new SqlLibrary(store.engine, { clock, embedder: other.name })
    expect(await anew.document(ada, document)).toMatchObject({ status: "ingesting" })
    const again = async () => {
      const indexer = new PassageIndexer({ library: anew, embedder: other, clock, log })
      await indexer.settled()
      await indexer.close()
    }
    await again()
    expect(await anew.document(ada, document)).toMatchObject({ status: "ready" })
    const vector = { embedder: other.name, numbers: [...other.vectorOf("swallows")] }
    expect(await anew.search(ada, { text: "nothing", vector, limit: 1 })).toHaveLength(1)
    expect(await count("passage_vector", ada)).toBe(2)
    await clock.advance(25 * 60 * 60_000)
    await again()
    expect(await count("passage_vector", ada)).toBe(1)
    await index() // for the tests that follow
  })

  test("a stored document is listed, read and found, and invisible to other users", async () => {
    const [ada, bob] = [await person("ada"), await person("bob")]
    const { id } = await library.createCollection(ada, "Birds")
    const text = "Kingfishers dive.\n\nThey eat 🐟 and insects near slow rivers."
    const kept = await library.keep(ada, id, documentOf("birds.txt", text, { date: "2024-05", authors: ["A. B."] }))
    expect(kept.kept).toBe("added")
    expect(await library.document(ada, kept.id)).toMatchObject({
      status: "ingesting",
      date: "2024-05",
      embedded: 0,
      authors: ["A. B."],
    })
    await index()
    expect(await library.document(ada, kept.id)).toMatchObject({
      status: "ready",
      passages: 1,
      embedded: 1,
      characters: text.length,
    })
    const [found] = await search(ada, "kingfisher diving")
    expect(found).toMatchObject({ text, span: { start: 0, end: text.length }, documentId: kept.id, title: "birds.txt" })
    expect(await library.passage(ada, found!.id)).toEqual({ ...found, score: undefined })
    expect(await library.read(ada, kept.id, { start: 19, length: 12 })).toMatchObject({
      text: text.slice(19, 31),
      characters: text.length,
    })
    expect(await library.collection(ada, id)).toMatchObject({ documents: 1, passages: 1 })

    expect(await search(bob, "kingfisher")).toEqual([])
    expect(await search(bob, "kingfisher", { collectionIds: [id] })).toEqual([])
    expect(await library.passage(bob, found!.id)).toBeUndefined()
    expect(await library.document(bob, kept.id)).toBeUndefined()
    expect(await library.read(bob, kept.id, { start: 0, length: 9 })).toBeUndefined()
    await expect(library.keep(bob, id, documentOf("x", "y"))).rejects.toMatchObject({ code: "not_found" })
    await expect(library.removeDocument(bob, id, kept.id)).rejects.toMatchObject({ code: "not_found" })
    await expect(library.removeCollection(bob, id)).rejects.toMatchObject({ code: "not_found" })
  })

  test("an unchanged document is skipped, a changed one replaces the old one, and nothing of that is left", async () => {
    const ada = await person("ada")
    const { id } = await library.createCollection(ada, "Notes")
    const first = await library.keep(ada, id, documentOf("a.txt", long("heron")))
    await index()
    expect(await library.keep(ada, id, documentOf("a.txt", long("heron")))).toEqual({ id: first.id, kept: "unchanged" })
    const before = (await search(ada, "heron"))[0]!
    expect(await library.keep(ada, id, documentOf("a.txt", long("stork")))).toEqual({ id: first.id, kept: "replaced" })
    expect(await search(ada, "heron")).toEqual([]) // neither by words nor by a vector that is still in memory
    expect((await search(ada, "stork"))[0]?.text).toContain("stork")
    expect(await library.passage(ada, before.id)).toBeUndefined()
    await index()
    const { passages } = (await library.document(ada, first.id))!
    expect(await count("passage", ada)).toBe(passages)
    expect(await count("passage_vector", ada)).toBe(passages)
    expect(await count("edition", ada)).toBe(0)
    expect(await library.collection(ada, id)).toMatchObject({ documents: 1, passages })
    expect(await search(ada, "stork")).toHaveLength(10)
  })

  test("while a document is replaced, readers find the old or the new one, complete", async () => {
    const ada = await person("ada")
    const { id } = await library.createCollection(ada, "Swap")
    await library.keep(ada, id, documentOf("a.txt", long("heron")))
    const replacing = library.keep(ada, id, documentOf("a.txt", long("stork")))
    let done = false
    void replacing.then(() => (done = true))
    const seen = new Set<string>()
    while (!done) {
      await new Promise((resolve) => setImmediate(resolve))
      // In sequence: once the new one is found, the old one is not.
      const storks = await library.search(ada, { text: "stork", limit: 3 })
      const herons = await library.search(ada, { text: "heron", limit: 3 })
      seen.add(`${herons.length > 0} ${storks.length > 0}`)
    }
    expect([...seen].every((each) => ["true false", "false true", "false false"].includes(each))).toBe(true)
    expect(await library.search(ada, { text: "heron", limit: 3 })).toEqual([])
  })

  test("a process that is killed while it writes leaves nothing that is found, and the rest is cleaned up", async () => {
    const ada = await person("ada")
    const { id } = await library.createCollection(ada, "Death")
    let left = 0
    for (let writes = 1; ; writes++) {
      let changes = 0
      const dying = new SqlLibrary(
        {
          ...store.engine,
          change: (operation: never) => {
            if (changes++ >= writes) throw failure("store_unavailable", { problem: "dead" })
            return store.engine.change(operation)
          },
        } as never,
        { clock, embedder: embedder.name },
      )
      const result = await dying.keep(ada, id, documentOf("a.txt", long("crane"))).catch(() => undefined)
      if (result) break
      left = writes
      expect(await search(ada, "crane")).toEqual([])
      expect(await library.collection(ada, id)).toMatchObject({ documents: 0, passages: 0 })
    }
    expect(left).toBeGreaterThan(3)
    await clock.turn(2 * 60 * 60_000)
    await index()
    expect(await count("edition", ada)).toBe(0)
    const { passages } = (await library.collection(ada, id))!
    expect(await count("passage", ada)).toBe(passages)
  })

  test("vectors are computed from where a killed process stopped, each once", async () => {
    const ada = await person("ada")
    const { id } = await library.createCollection(ada, "Resume")
    const { id: document } = await library.keep(ada, id, documentOf("a.txt", long("owl")))
    embedder.seen.length = 0
    embedder.failure = () => (embedder.seen.length >= 64 ? failure("overloaded", { provider: "x" }) : undefined)
    await index()
    embedder.failure = undefined
    expect(await library.document(ada, document)).toMatchObject({ status: "ingesting", embedded: 64 })
    await index(open())
    const view = (await library.document(ada, document))!
    expect(view).toMatchObject({ status: "ready", embedded: view.passages })
    expect(embedder.seen).toHaveLength(view.passages)
    expect(await search(ada, "owl")).toHaveLength(10)
  })

  test("a passage that the embedder refuses delays no other, and is found by its words", async () => {
    const ada = await person("ada")
    const { id } = await library.createCollection(ada, "Poison")
    await library.keep(ada, id, documentOf("a.txt", "Poison ivy."))
    await library.keep(ada, id, documentOf("b.txt", "Roses."))
    embedder.failure = (texts) =>
      texts.some((text) => text.includes("Poison")) ? failure("refused", { provider: "x" }) : undefined
    await index()
    embedder.failure = undefined
    expect((await library.documents(ada, id, page)).items.map(({ status }) => status)).toEqual(["ready", "ready"])
    expect((await search(ada, "poison"))[0]?.title).toBe("a.txt")
  })

  test("dates and collections filter both kinds of search", async () => {
    const ada = await person("ada")
    const [one, two] = [await library.createCollection(ada, "One"), await library.createCollection(ada, "Two")]
    for (const date of ["2023", "2024-02", "2024-12-31", null]) {
      await library.keep(ada, one.id, documentOf(`swift ${date}`, `Swifts of ${date}.`, { date }))
    }
    await library.keep(ada, two.id, documentOf("two", "Swifts elsewhere.", { date: "2024" }))
    await index()
    const found = async (more: object) => (await search(ada, "swifts", more)).map(({ source }) => source).sort()
    expect(await found({ from: "2024", to: "2024" })).toEqual(["swift 2024-02", "swift 2024-12-31", "two"])
    expect(await found({ to: "2024-02" })).toEqual(["swift 2023", "swift 2024-02", "two"])
    expect(await found({ from: "2024-03", collectionIds: [one.id] })).toEqual(["swift 2024-12-31"])
    expect(await found({ collectionIds: [two.id] })).toEqual(["two"])
    expect(await found({ collectionIds: [newId("col")] })).toEqual([])
    expect(await found({})).toHaveLength(5)
  })

  test("the passages with a word are counted, up to a limit", async () => {
    const ada = await person("ada")
    const one = await library.createCollection(ada, "Counted")
    for (const name of ["a", "b", "c"]) await library.keep(ada, one.id, documentOf(name, `Gulls and ${name}lks.`))
    const counted = async (limit: number) => {
      const words = ["gulls", "alks", "nothing"]
      const query = { person: ada, collections: [one.id], among: "words", words, limit } as const
      const { sql, values } = store.engine.fullText.count(query)
      return (await store.engine.query<{ n: number }>(sql, values)).map(({ n }) => Number(n))
    }
    expect(await counted(10)).toEqual([3, 1, 0])
    expect(await counted(2)).toEqual([2, 1, 0])
  })

  test("any text is a safe query", async () => {
    const ada = await person("ada")
    const { id } = await library.createCollection(ada, "Any")
    await library.keep(ada, id, documentOf("a", "Plain words about falcons."))
    const odd = [
      '"',
      "'",
      "AND OR NOT NEAR(",
      "falcon*",
      "text:falcon",
      "' | 'x",
      ":*",
      "\\",
      "falcon & !x",
      "()",
      "💥",
      "\u0301",
      "^falcon",
      "a".repeat(2000),
      "-- ;DROP TABLE passage",
      "{heading} : x",
      "$1 ? ?",
    ]
    for (const text of odd) await expect(library.search(ada, { text, limit: 5 })).resolves.toBeInstanceOf(Array)
    expect(await library.search(ada, { text: 'falcon* OR "x', limit: 5 })).toHaveLength(1)
  })

  test("deleted documents and collections are gone at once, and their rows soon", async () => {
    const ada = await person("ada")
    const { id } = await library.createCollection(ada, "Gone")
    await expect(library.createCollection(ada, "Gone")).rejects.toMatchObject({ code: "name_taken" })
    const first = await library.keep(ada, id, documentOf("a", long("plover")))
    await library.keep(ada, id, documentOf("b", `${long("plover")}And another.`))
    await index()
    await library.removeDocument(ada, id, first.id)
    expect(new Set((await search(ada, "plover")).map(({ source }) => source))).toEqual(new Set(["b"]))
    expect(await library.collection(ada, id)).toMatchObject({ documents: 1 })
    await library.removeCollection(ada, id)
    expect(await search(ada, "plover")).toEqual([])
    await index()
    for (const table of ["passage", "passage_vector", "document_text", "document", "embedding", "edition"])
      expect([table, await count(table, ada)]).toEqual([table, 0])
    await expect(library.removeCollection(ada, id)).rejects.toMatchObject({ code: "not_found" })
  })

  test("an unreadable file is listed with its reason, and never replaces a readable one", async () => {
    const ada = await person("ada")
    const { id } = await library.createCollection(ada, "Failed")
    const bad = { source: "x.pdf", kind: "pdf", title: "x.pdf", hash: "h", reason: "it is encrypted" } as const
    const document = await library.fail(ada, id, bad)
    expect(await library.fail(ada, id, { ...bad, reason: "it is broken" })).toBe(document)
    expect(await library.document(ada, document)).toMatchObject({ status: "failed", reason: "it is broken" })
    expect(await library.collection(ada, id)).toMatchObject({ documents: 1 })
    await library.keep(ada, id, documentOf("x.pdf", "Readable now."))
    await library.fail(ada, id, bad)
    expect(await library.document(ada, document)).toMatchObject({ status: "ingesting", reason: null })
  })

  test("several concurrent uploads of the same file all succeed and make one document", async () => {
    const ada = await person("ada")
    const { id } = await library.createCollection(ada, "Race")
    const kept = await Promise.all(["a", "b", "c", "a"].map((word) => library.keep(ada, id, documentOf("same", word))))
    expect(new Set(kept.map((each) => each.id)).size).toBe(1)
    expect(await library.collection(ada, id)).toMatchObject({ documents: 1, passages: 1 })
    await index()
    expect(await count("passage", ada)).toBe(1)
  })

  test("a file that gets this content during the search for it is not removed", async () => {
    const ada = await person("ada")
    const { id } = await library.createCollection(ada, "Race")
    const { id: document } = await library.keep(ada, id, documentOf("same", "before"))
    let begun = false
    const query: typeof store.engine.query = async (sql, values) => {
      // Another client adds it between the query for its name and that for its content.
      if (!begun && sql.includes("x.hash = ?")) {
        begun = true
        await library.keep(ada, id, documentOf("same", "after"))
      }
      return store.engine.query(sql, values)
    }
    const slow = new SqlLibrary({ ...store.engine, query }, { clock, embedder: embedder.name })
    expect(await slow.keep(ada, id, documentOf("same", "after"))).toEqual({ id: document, kept: "unchanged" })
    expect(begun).toBe(true)
    expect(await library.collection(ada, id)).toMatchObject({ documents: 1, passages: 1 })
  })

  test("erasing a user deletes all of it, and an export contains it", async () => {
    const ada = await person("ada")
    const { id } = await library.createCollection(ada, "Mine")
    await library.keep(ada, id, documentOf("a", "Wrens."))
    await index()
    const lines = await Array.fromAsync(store.retention.exportOf(ada))
    const kinds = lines.map(({ kind }) => kind as string)
    expect(kinds.filter((kind) => ["collection", "document", "document_text"].includes(kind))).toHaveLength(3)
    await store.retention.erasePerson(ada)
    expect(await search(ada, "wrens")).toEqual([])
    for (const table of ["passage", "passage_vector", "document_text", "document", "collection"])
      expect(await count(table, ada)).toBe(0)
  })
})
