import { existsSync, readFileSync, truncateSync, writeFileSync } from "node:fs"
import { mkdtemp, readdir, readFile, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest"
import { newId, type CollectionId, type UserId } from "../../core/protocol/ids.ts"
import type { Engine } from "../../core/store/engine/engine.ts"
import { SqlLibrary } from "../../core/store/library/library.ts"
import { PassageIndexer } from "../../core/store/library/passage-indexer.ts"
import { openStore, type Store } from "../../core/store/store.ts"
import { databasesInTurn } from "../support/databases.ts"
import { TurnedClock } from "../support/loop/world.ts"
import { WordEmbedder } from "../support/word-embedder.ts"

const log = { info() {}, warn() {}, error() {} }
const embedder = new WordEmbedder()
const clock = new TurnedClock()
const WORDS = ["swallow", "anvil", "lentil", "harbour", "comet", "glacier"]
describe.each(databasesInTurn(import.meta.filename))("files of indexes, on $name", ({ name, create }) => {
  let store: Store
  let url: string
  let folder: string

  beforeAll(async () => {
    url = (await create()).url
    const cacheFolder = await mkdtemp(join(tmpdir(), inject("testRun"), "index-cache-"))
    store = await openStore({ url, durability: "normal", clock, cacheFolder })
    folder = store.engine.cacheFolder!("vectors")
  })
  afterAll(() => store[Symbol.asyncDispose]())

  /** A new process: nothing in memory. `rows` counts vectors that it has read one by one. */
  function begin(of: Store = store) {
    const read = { rows: 0 }
    const query: Engine["query"] = async <Row>(sql: string, values: readonly unknown[]) => {
      const rows = await of.engine.query<Row>(sql, values)
      if (sql.includes("version, vector FROM passage_vector")) read.rows += rows.length
      return rows
    }
    const library = new SqlLibrary({ ...of.engine, query }, { clock, embedder: embedder.name, leastFiled: 3 })
    return { library, read }
  }

  interface Added {
    readonly user: UserId
    readonly collection: CollectionId
    readonly word: string
    readonly source?: string
  }

  const add = async (library: SqlLibrary, { user, collection, word, source = word }: Added) => {
    const text = `Something about a ${word}, and the ${word} again.`
    const passages = [{ start: 0, end: text.length, headings: [] }]
    const common = { kind: "text", title: source, authors: [], date: null, passages } as const
    return library.keep(user, collection, { source, ...common, hash: text, text })
  }

  const embedAll = async (library: SqlLibrary) => {
    const indexer = new PassageIndexer({ library, embedder, clock, log })
    await indexer.settled()
    await indexer.close()
  }

  /** By meaning alone, and until the resulting file is written. */
  const found = async (library: SqlLibrary, user: UserId, word: string) => {
    const vector = { embedder: embedder.name, numbers: [...embedder.vectorOf(word)] }
    const passages = await library.search(user, { text: "", limit: 3, vector })
    await library.vectors.indexes.settled()
    return passages.map(({ title }) => title)
  }

  async function fill(words = WORDS) {
    const { library } = begin()
    const { id: user } = await store.people.ensure(newId("user"), 0)
    const { id: collection } = await library.createCollection(user, "Things")
    for (const word of words) await add(library, { user, collection, word })
    await embedAll(library)
    const first = await found(library, user, "comet")
    await clock.turn(60_000)
    return { library, user, collection, first, file: join(folder, `${collection}.vectors`) }
  }

  const inFiles = async (edition: string) => {
    const files = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name))))
    return files.some((bytes) => bytes.includes(edition))
  }
  const editionOf = async (id: string) =>
    (await store.engine.query<{ edition: string }>("SELECT edition FROM document WHERE id = ?", [id]))[0]!.edition

  test("a new process reads the file, and only the newer rows", async () => {
    const { user, collection, first } = await fill()
    expect(first[0]).toBe("comet")
    const second = begin()
    expect(await found(second.library, user, "comet")).toEqual(first)
    expect(second.read.rows).toBe(0)
    await add(second.library, { user, collection, word: "meteor" })
    await embedAll(second.library)
    const third = begin()
    expect((await found(third.library, user, "meteor"))[0]).toBe("meteor")
    expect((await found(third.library, user, "anvil"))[0]).toBe("anvil")
    expect(third.read.rows).toBe(1)
  })

  test("a file that was truncated or changed anywhere, or has another version, is ignored and written again", async () => {
    const { user, file, first } = await fill()
    const whole = readFileSync(file)
    const cuts = Array.from({ length: 12 }, (_, i) => Math.floor((whole.length * i) / 12)).concat(whole.length - 1, 5)
    const faults: (() => void)[] = [
      ...cuts.map((length) => () => truncateSync(file, length)),
      // In the magic, the length of the header, the header, and each of the sections.
      ...[3, 13, 16, 40, whole.length - 40, whole.length >> 1, whole.length - 1].map((at) => () => {
        const torn = Buffer.from(whole)
        torn[at]! ^= 1
        writeFileSync(file, torn)
      }),
      () => writeFileSync(file, Buffer.concat([whole, Buffer.from("more")])),
      () => writeFileSync(file, whole.toString("latin1").replace("vectors 1", "vectors 0"), "latin1"),
    ]
    for (const fault of faults) {
      fault()
      const { library, read } = begin()
      expect(await found(library, user, "comet")).toEqual(first)
      expect(read.rows).toBe(WORDS.length)
      expect(readFileSync(file).equals(whole)).toBe(true)
    }
  })

  test.each([
    [
      "the newest vector is another one, as after a restore",
      "UPDATE passage_vector SET version = 7 - version WHERE collection = ?",
    ],
    [
      "there are fewer vectors",
      "DELETE FROM passage_vector WHERE document IN (SELECT id FROM document WHERE title = 'anvil') AND collection = ?",
    ],
  ])("a file that does not match the database is ignored: %s", async (_, sql) => {
    const { user, collection } = await fill()
    await store.engine.change({ type: "statements", statements: [{ sql, values: [collection] }] })
    const { library, read } = begin()
    expect((await found(library, user, "comet"))[0]).toBe("comet")
    expect(read.rows).toBeGreaterThanOrEqual(WORDS.length - 1)
  })

  test("removed and replaced passages leave the file at once, and an erased user's files are deleted", async () => {
    const { library, user, collection, file } = await fill()
    // The document of the newest vector, which identifies a file, and another one.
    const newest = "SELECT document FROM passage_vector WHERE collection = ? ORDER BY version DESC LIMIT 1"
    const [row] = await store.engine.query<{ document: string }>(newest, [collection])
    const documents = (await library.documents(user, collection, { limit: 50 })).items
    const one = documents.find(({ id }) => id === row?.document)!
    const other = documents.find(({ id }) => id !== one.id)!
    const editions = [await editionOf(one.id), await editionOf(other.id)]
    expect(await inFiles(editions[0]!)).toBe(true)
    await library.removeDocument(user, collection, one.id)
    expect(await inFiles(editions[0]!)).toBe(false)
    await found(library, user, "comet")
    expect([existsSync(file), await inFiles(editions[0]!), await inFiles(editions[1]!)]).toEqual([true, false, true])
    const next = begin()
    await found(next.library, user, "comet")
    expect(next.read.rows).toBeLessThanOrEqual(1) // it is identified by one that is still there; the row that is deleted later is read
    await add(library, { user, collection, word: "something else", source: other.source })
    expect(await inFiles(editions[1]!)).toBe(false)
    await embedAll(library)
    await clock.turn(60_000)
    await found(library, user, "comet")
    expect(existsSync(file)).toBe(true)
    await store.retention.erasePerson(user)
    expect(existsSync(file)).toBe(false)
  })

  test("rows that a killed process did not remove are deleted before the next one computes vectors, with its unfinished files", async () => {
    const { library, user, collection, file } = await fill()
    const [document] = (await library.documents(user, collection, { limit: 1 })).items
    const edition = await editionOf(document!.id)
    const before = await readFile(file)
    await library.removeDocument(user, collection, document!.id)
    await writeFile(file, before) // as if it had been killed between the commit and this
    await writeFile(`${file}.part`, before.subarray(0, 1000))
    await embedAll(begin().library)
    expect([await inFiles(edition), existsSync(`${file}.part`)]).toEqual([false, false])
  })

  test("two processes at one folder: one does not write again what the other removes", async () => {
    const { library, user, collection, file } = await fill()
    const other = begin()
    await found(other.library, user, "comet")
    const [document] = (await library.documents(user, collection, { limit: 1 })).items
    const edition = await editionOf(document!.id)
    await library.removeDocument(user, collection, document!.id)
    for (const word of ["kite", "raven"]) await add(library, { user, collection, word })
    await embedAll(library)
    expect((await found(other.library, user, "raven"))[0]).toBe("raven") // and has grown, so it writes its file
    expect([existsSync(file), await inFiles(edition)]).toEqual([true, false])
  })

  test("another node has files of its own, reads nothing that is deleted, and removes it from them within ten minutes", async () => {
    if (name !== "postgres") return // a file of SQLite is for one machine
    const cacheFolder = await mkdtemp(join(tmpdir(), inject("testRun"), "index-cache-"))
    await using other = await openStore({ url, durability: "normal", clock, cacheFolder })
    const { library, user, collection, file, first } = await fill()
    const there = join(cacheFolder, "vectors", `${collection}.vectors`)
    expect(existsSync(there)).toBe(false)
    const second = begin(other)
    expect(await found(second.library, user, "comet")).toEqual(first)
    expect([second.read.rows, existsSync(there)]).toEqual([WORDS.length, true])

    const documents = (await library.documents(user, collection, { limit: 50 })).items
    await library.removeDocument(user, collection, documents.find(({ title }) => title === "anvil")!.id)
    expect([existsSync(file), existsSync(there)]).toEqual([false, true])
    const third = begin(other)
    expect(await found(third.library, user, "anvil")).not.toContain("anvil")
    expect(third.read.rows).toBeGreaterThan(0)

    const indexer = new PassageIndexer({ library: third.library, embedder, clock, log })
    await indexer.settled()
    await store.retention.erasePerson(user)
    expect(existsSync(there)).toBe(true)
    await clock.advance(10 * 60_000)
    while (existsSync(there)) await clock.turn(2000)
    await indexer.close()
  })
})
