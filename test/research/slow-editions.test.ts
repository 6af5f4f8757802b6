import { describe, expect, test } from "vitest"
import { cutPassages } from "../../packs/research/passages/cut-passages.ts"
import type { CollectionId, UserId } from "../../core/protocol/ids.ts"
import type { ReadDocument } from "../../core/engine/library.ts"
import { deleteEditions } from "../../core/store/library/editions.ts"
import { SqlLibrary } from "../../core/store/library/library.ts"
import { PassageIndexer } from "../../core/store/library/passage-indexer.ts"
import { openStore, type Store } from "../../core/store/store.ts"
import { databasesInTurn } from "../support/databases.ts"
import { TurnedClock } from "../../core/engine/turned-clock.fixture.ts"
import { WordEmbedder } from "../support/word-embedder.ts"

const HOURS = 2 * 60 * 60_000
const { signal } = new AbortController()
const silent = { info() {}, warn() {}, error() {} }

/** Long enough to be written in several transactions. */
const TEXT = "Kites stand here among others. ".repeat(2000)

function longDocument(): ReadDocument {
  const passages = cutPassages(TEXT, [{ headings: [], start: 0, end: TEXT.length }], { most: 200, least: 20 })
  const common = { source: "kites.txt", kind: "text", title: "Kites", authors: [], date: null, hash: "kites" } as const
  return { ...common, text: TEXT, passages }
}

interface World extends AsyncDisposable {
  readonly store: Store
  readonly clock: TurnedClock
  readonly library: SqlLibrary
  readonly ada: UserId
  readonly collection: CollectionId
}

describe.each(databasesInTurn(import.meta.filename))("the stored parts of a document, on $name", ({ create }) => {
  const open = async (): Promise<World> => {
    const place = await create()
    const clock = new TurnedClock()
    const store = await openStore({ url: place.url, durability: "normal", clock })
    const library = new SqlLibrary(store.engine, { clock, embedder: "test/words" })
    const { id: ada } = await store.people.ensure("ada", 0)
    const collection = await library.ensureCollection(ada, "Papers")
    return {
      ...{ store, clock, library, ada, collection },
      async [Symbol.asyncDispose]() {
        await store[Symbol.asyncDispose]()
        await place[Symbol.asyncDispose]()
      },
    }
  }

  /** Checks that all of it can be read and found, and that there is nothing else. */
  const expectWhole = async ({ store, library, ada, collection }: World) => {
    const [document] = (await library.documents(ada, collection, { limit: 5 })).items
    const { passages } = longDocument()
    const sql = `SELECT edition, count(*) AS n FROM passage WHERE person = ? GROUP BY edition`
    const rows = await store.engine.query<{ n: number }>(sql, [ada])
    expect(rows.map(({ n }) => Number(n))).toEqual([passages.length])
    const window = await library.read(ada, document!.id, { start: 0, length: TEXT.length })
    expect(window?.text.length).toBe(TEXT.length)
  }

  test("are there once and complete, if the machine slept for hours in the middle of it", async () => {
    await using world = await open()
    const { store, clock, library, ada, collection } = world
    const { change } = store.engine
    let portions = 0
    Object.assign(store.engine, {
      async change(operation: Parameters<typeof change>[0]) {
        const isPortion = JSON.stringify(operation).includes("INSERT INTO passage ")
        if (isPortion && ++portions === 3) {
          clock.turn(HOURS)
          await deleteEditions(store.engine, clock.now(), signal)
        }
        return change(operation as never)
      },
    })
    await library.keep(ada, collection, longDocument())
    Object.assign(store.engine, { change })
    await deleteEditions(store.engine, clock.now() + HOURS, signal)
    await expectWhole(world)
  })

  test("stay if the document became current at the moment in which they were to be cleaned up", async () => {
    await using world = await open()
    const { store, clock, library, ada, collection } = world
    const { change, query } = store.engine
    const [chosen, kept] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let clearing: Promise<unknown> | undefined
    Object.assign(store.engine, {
      async change(operation: Parameters<typeof change>[0]) {
        if (clearing || !JSON.stringify(operation).includes("DELETE FROM edition")) return change(operation as never)
        clock.turn(HOURS)
        clearing = deleteEditions(store.engine, clock.now(), signal)
        await chosen.promise
        return change(operation as never).finally(() => kept.resolve())
      },
      async query(sql: string, values: unknown[]) {
        const rows = await query(sql, values)
        if (!sql.includes("FROM edition")) return rows
        chosen.resolve()
        await kept.promise
        return rows
      },
    })
    await library.keep(ada, collection, longDocument())
    await clearing
    Object.assign(store.engine, { change, query })
    await expectWhole(world)
  })

  test("of other users are found while much data of one user is cleaned up", async () => {
    await using world = await open()
    const { store, clock, library, ada, collection } = world
    const gone = Array.from({ length: 120 }, (_, n) => `('ed_gone${n}', '${ada}', 'gone', 0)`).join(", ")
    const sql = `INSERT INTO edition (id, person, state, at) VALUES ${gone}`
    await store.engine.change({ type: "statements", statements: [{ sql, values: [] }] })
    await library.keep(ada, collection, longDocument())
    const left = async () => (await store.engine.query("SELECT id FROM edition", [])).length
    const seen: number[] = []
    const embedder = new WordEmbedder()
    const { embed } = embedder
    embedder.embed = async (...asked) => {
      seen.push(await left())
      return embed.apply(embedder, asked)
    }
    const indexer = new PassageIndexer({ library, embedder, clock, log: silent })
    await indexer.settled()
    await indexer.close()
    expect(seen[0]).toBeGreaterThan(0)
    expect(await left()).toBe(0)
  })
})
