import { existsSync, readFileSync, truncateSync, writeFileSync } from "node:fs"
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest"
import type { UserId } from "../../core/protocol/ids.ts"
import type { Engine } from "../../core/store/engine/engine.ts"
import { openStore, type Store } from "../../core/store/store.ts"
import { NoteIndexer } from "../../core/store/workspace/note-indexer.ts"
import { SqlNoteVectors } from "../../core/store/workspace/note-vectors.ts"
import { databasesInTurn } from "../support/databases.ts"
import { TurnedClock } from "../support/loop/world.ts"
import { WordEmbedder } from "../support/word-embedder.ts"

const log = { info() {}, warn() {}, error() {} }
const embedder = new WordEmbedder()
const WORDS = ["swallow", "anvil", "lentil", "harbour", "comet", "glacier"]
let people = 0

describe.each(databasesInTurn(import.meta.filename))("files of note indexes, on $name", ({ name, create }) => {
  const clock = new TurnedClock()
  let url: string
  let store: Store
  let folder: string

  beforeAll(async () => {
    url = (await create()).url
    const cacheFolder = await mkdtemp(join(tmpdir(), inject("testRun"), "index-cache-"))
    store = await openStore({ url, durability: "normal", clock, cacheFolder })
    folder = store.engine.cacheFolder!("note-vectors")
    store.workspaces.vectors = begin().vectors // what is written waits for its vector
  })
  afterAll(() => store[Symbol.asyncDispose]())

  /** A process that starts with nothing in memory. `rows` counts the vectors that it has read one by one. */
  function begin(of: Store = store) {
    const read = { rows: 0, beforeFile: async () => {} }
    const query: Engine["query"] = async <Row>(sql: string, values: readonly unknown[]) => {
      const rows = await of.engine.query<Row>(sql, values)
      if (sql.includes("note, version, vector FROM")) read.rows += rows.length
      if (sql.includes("note, version, hash FROM")) await read.beforeFile()
      return rows
    }
    return { vectors: new SqlNoteVectors({ ...of.engine, query }, embedder.name, { clock, leastFiled: 3 }), read }
  }

  /** Runs an indexer until nothing waits, or for as long as it takes. */
  async function indexing(vectors: SqlNoteVectors, user: UserId, meanwhile = async () => {}): Promise<void> {
    const indexer = new NoteIndexer({ workspaces: store.workspaces, vectors, embedder, clock, log })
    await meanwhile()
    await vectors.caughtUp(user)
    await indexer.close()
  }

  const put = async (user: UserId, content: string) => {
    const data = { title: "", content, projectId: null }
    return (await store.workspaceOf(user).edit({ action: "insert", table: "notes", data })).after!.id
  }
  const write = (user: UserId, id: string, content: string) =>
    store.workspaceOf(user).edit({ action: "update", table: "notes", id, updates: { content } })
  const remove = (user: UserId, id: string) => store.workspaceOf(user).edit({ action: "delete", table: "notes", id })

  /** Returns the nearest notes, once the file that follows is written. */
  async function found({ vectors }: Pick<ReturnType<typeof begin>, "vectors">, user: UserId, word: string) {
    const vector = { embedder: embedder.name, numbers: [...embedder.vectorOf(word)] }
    vectors.caughtUp = async () => {}
    const [first] = await vectors.nearest(user, vector, { limit: 1 })
    await vectors.indexes.settled()
    return first?.content
  }

  async function fill() {
    const { id: user } = await store.people.ensure(`person ${name} ${++people}`, 0)
    const ids = new Map<string, string>()
    for (const word of WORDS) ids.set(word, await put(user, word))
    const first = begin()
    await indexing(first.vectors, user)
    expect(await found(first, user, "comet")).toBe("comet")
    const file = join(folder, `${user}.vectors`)
    expect(existsSync(file)).toBe(true)
    await clock.turn(60_000)
    return { user, ids, file, first }
  }

  test("a starting process reads the file, and only the rows written since", async () => {
    const { user, ids } = await fill()
    const second = begin()
    expect(await found(second, user, "comet")).toBe("comet")
    expect(second.read.rows).toBe(0)
    await put(user, "meteor")
    await write(user, ids.get("anvil")!, "hammer")
    await indexing(second.vectors, user)
    const third = begin()
    expect(await found(third, user, "hammer")).toBe("hammer")
    expect(await found(third, user, "meteor")).toBe("meteor")
    expect(await found(third, user, "anvil")).not.toBe("anvil")
    expect(third.read.rows).toBe(2)
  })

  test("a file that is truncated, corrupt or of another version is ignored and written again", async () => {
    const { user, file } = await fill()
    const whole = readFileSync(file)
    const faults = [
      ...[5, whole.length >> 1, whole.length - 1].map((length) => () => truncateSync(file, length)),
      ...[3, 16, 40, whole.length - 40].map((at) => () => {
        const torn = Buffer.from(whole)
        torn[at]! ^= 1
        writeFileSync(file, torn)
      }),
      () => writeFileSync(file, whole.toString("latin1").replace("vectors 1", "vectors 0"), "latin1"),
    ]
    for (const fault of faults) {
      fault()
      const next = begin()
      expect(await found(next, user, "comet")).toBe("comet")
      expect(next.read.rows).toBe(WORDS.length)
      expect(readFileSync(file).length).toBe(whole.length)
    }
  })

  test.each([
    [
      "numbers are given to others, as after a restore",
      "UPDATE note_vector SET version = 7 - version WHERE person = ?",
    ],
    ["a number is given for something else", "UPDATE note_vector SET hash = 'other' WHERE person = ? AND version = 2"],
    ["one has a vector that had none", "UPDATE note_vector SET version = 3 WHERE person = ? AND version = 2"],
  ])("a file that does not match the database is ignored: %s", async (_, sql) => {
    const { user } = await fill()
    await store.engine.change({ type: "statements", statements: [{ sql, values: [user] }] })
    const next = begin()
    expect(await found(next, user, "comet")).toBe("comet")
    expect(next.read.rows).toBe(WORDS.length)
  })

  test("rows added to a restored database are found, though the file has the same numbers", async () => {
    const { user } = await fill()
    const statements = [
      "DELETE FROM note WHERE id IN (SELECT note FROM note_vector WHERE person = ? AND version > 3)",
      "DELETE FROM note_vector WHERE person = ? AND version > 3",
      "UPDATE workspace SET vectors = 3 WHERE person = ?",
    ].map((sql) => ({ sql, values: [user] }))
    await store.engine.change({ type: "statements", statements })
    const next = begin()
    await found(next, user, "swallow")
    expect(next.read.rows).toBe(0)
    await put(user, "meteor")
    await indexing(next.vectors, user)
    expect(await found(next, user, "meteor")).toBe("meteor")
  })

  test("a deleted note leaves the file at once, and an erased person's file is deleted", async () => {
    const { user, ids, file, first } = await fill()
    const anvil = ids.get("anvil")!
    await indexing(first.vectors, user, async () => void (await remove(user, anvil)))
    await expect.poll(() => existsSync(file)).toBe(false)
    await found(first, user, "comet")
    expect([existsSync(file), readFileSync(file).includes(anvil)]).toEqual([true, false])
    await store.retention.erasePerson(user)
    expect(existsSync(file)).toBe(false)
  })

  test("a note that a killed process could not remove is not found, and is gone after the next start", async () => {
    const { user, ids, file } = await fill()
    const comet = ids.get("comet")!
    await remove(user, comet) // without a listener, as if the process had died between the commit and this
    expect(readFileSync(file).includes(comet)).toBe(true)
    const next = begin()
    expect(await found(next, user, "comet")).not.toBe("comet")
    expect([readFileSync(file).includes(comet), next.read.rows]).toEqual([false, 0])
    await remove(user, ids.get("anvil")!)
    writeFileSync(`${file}.part`, "half")
    await indexing(begin().vectors, user)
    expect([existsSync(file), existsSync(`${file}.part`)]).toEqual([false, false])
  })

  test("a note that is read while the file is about to be written stays in the index, and comes into the file", async () => {
    const { user, ids, first } = await fill()
    await put(user, "meteor")
    await indexing(first.vectors, user)
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    first.read.beforeFile = () => (asked.resolve(), answered.promise)
    const writing = found(first, user, "meteor")
    await asked.promise
    await put(user, "nebula")
    await write(user, ids.get("anvil")!, "hammer")
    const other = begin()
    await indexing(other.vectors, user)
    const nearest = async (word: string) => {
      const vector = { embedder: embedder.name, numbers: [...embedder.vectorOf(word)] }
      return (await first.vectors.nearest(user, vector, { limit: 1 }))[0]?.content
    }
    expect([await nearest("nebula"), await nearest("hammer")]).toEqual(["nebula", "hammer"])
    answered.resolve()
    expect(await writing).toBe("meteor")
    expect([await nearest("nebula"), await nearest("hammer")]).toEqual(["nebula", "hammer"])
    const next = begin()
    expect([await found(next, user, "nebula"), next.read.rows]).toEqual(["nebula", 0])
  })

  test("another node has files of its own, and drops deleted notes within ten minutes", async () => {
    if (name !== "postgres") return // a file of SQLite is for one machine
    const cacheFolder = await mkdtemp(join(tmpdir(), inject("testRun"), "index-cache-"))
    await using other = await openStore({ url, durability: "normal", clock, cacheFolder })
    const { user } = await fill()
    const there = join(cacheFolder, "note-vectors", `${user}.vectors`)
    const second = begin(other)
    await found(second, user, "comet")
    expect([second.read.rows, existsSync(there)]).toEqual([WORDS.length, true])
    const { workspaces } = other
    const indexer = new NoteIndexer({ workspaces, vectors: second.vectors, embedder, clock, log })
    await second.vectors.caughtUp(user)
    await store.retention.erasePerson(user)
    expect(existsSync(there)).toBe(true)
    await clock.advance(10 * 60_000)
    while (existsSync(there)) await clock.turn(2000)
    await indexer.close()
  })
})
