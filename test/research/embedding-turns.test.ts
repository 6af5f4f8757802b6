import { describe, expect, test, vi } from "vitest"
import type { UserId } from "../../core/protocol/ids.ts"
import { SqlLibrary } from "../../core/store/library/library.ts"
import { PassageIndexer } from "../../core/store/library/passage-indexer.ts"
import { openStore, type Store } from "../../core/store/store.ts"
import { databasesInTurn } from "../support/databases.ts"
import { WordEmbedder } from "../support/word-embedder.ts"
import { TurnedClock } from "../support/loop/world.ts"

const log = { info() {}, warn() {}, error() {} }

/** One of the processes that share a database and compute its pending vectors. */
class Node {
  readonly embedder = new WordEmbedder()
  readonly library: SqlLibrary
  readonly #clock: TurnedClock
  indexer: PassageIndexer | undefined

  constructor(store: Store, clock: TurnedClock) {
    this.#clock = clock
    this.library = new SqlLibrary(store.engine, { clock, embedder: this.embedder.name })
  }

  start(): PassageIndexer {
    const { library, embedder } = this
    return (this.indexer = new PassageIndexer({ library, embedder, clock: this.#clock, log }))
  }

  async add(user: UserId, name: string): Promise<void> {
    const collection = await this.library.ensureCollection(user, "Papers")
    const text = `Words of ${name}.`
    const about = { source: name, kind: "text", title: name, authors: [], date: null, hash: name } as const
    await this.library.keep(user, collection, {
      ...about,
      text,
      passages: [{ headings: [], start: 0, end: text.length }],
    })
  }
}

describe.each(databasesInTurn(import.meta.filename))("pending vectors, on $name", ({ name, create }) => {
  async function setUp() {
    const place = await create()
    const clock = new TurnedClock()
    const store = await openStore({ url: place.url, durability: "normal" })
    // A file of SQLite has one owner: there all work through it.
    const second = name === "postgres" ? await openStore({ url: place.url, durability: "normal" }) : undefined
    const nodes = [new Node(store, clock), new Node(second ?? store, clock)] as const
    const ada = (await store.people.ensure("ada", 0)).id
    const bob = (await store.people.ensure("bob", 0)).id
    const [a, b] = nodes
    return {
      ...{ clock, ada, bob, a, b },
      async [Symbol.asyncDispose]() {
        for (const { indexer } of nodes) await indexer?.close()
        await second?.[Symbol.asyncDispose]()
        await store[Symbol.asyncDispose]()
        await place[Symbol.asyncDispose]()
      },
    }
  }

  /** Advances the clock until the condition holds: the other processes poll every two seconds. */
  async function until(isSo: () => boolean, clock: TurnedClock): Promise<void> {
    while (!isSo()) {
      await clock.turn(2000)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  test("are computed in turns: a user with many documents does not delay one with a single document", async () => {
    await using world = await setUp()
    const { a, ada, bob } = world
    for (let i = 0; i < 60; i++) await a.add(ada, `ada ${i}`)
    await a.add(bob, "bob")
    await a.start().settled()
    expect(a.embedder.seen.length).toBe(61)
    expect(a.embedder.seen.findIndex((text) => text.includes("bob"))).toBeLessThan(20)
  })

  test("are computed once, even if several processes try", async () => {
    await using world = await setUp()
    const { a, b, ada, bob } = world
    for (let i = 0; i < 40; i++) await a.add(i % 2 ? ada : bob, `paper ${i}`)
    const indexers = [a.start(), b.start()]
    for (const indexer of indexers) await indexer.settled()
    const seen = [...a.embedder.seen, ...b.embedder.seen]
    expect([seen.length, new Set(seen).size]).toEqual([40, 40])
    expect(await a.library.vectors.waitingCount()).toBe(0)
  })

  test("that a killed process had claimed are computed by another once the claim expires, and not before", async () => {
    await using world = await setUp()
    const { a, b, ada, clock } = world
    await a.add(ada, "paper")
    expect(await a.library.vectors.claim(ada, 16)).toHaveLength(1) // and then it is gone
    await b.start().settled()
    expect(b.embedder.asked).toBe(0)
    await until(() => b.embedder.seen.length > 0, clock)
    await b.indexer!.settled()
    expect(await b.library.vectors.waitingCount()).toBe(0)
  })

  test("of a process that stops, or added by another process, are computed at the next poll", async () => {
    await using world = await setUp()
    const { a, b, ada, clock } = world
    const held = Promise.withResolvers<void>()
    a.embedder.held = held.promise
    await a.add(ada, "paper")
    a.start()
    await vi.waitFor(() => expect(a.embedder.asked).toBe(1)) // without advancing the clock: its claim stays valid
    await b.start().settled()
    expect(b.embedder.asked).toBe(0)
    const closing = a.indexer!.close()
    held.resolve()
    await closing
    const look = async () => {
      await clock.turn(2000)
      await b.indexer!.settled()
      return b.embedder.seen.length
    }
    expect(await look()).toBe(1)
    await a.add(ada, "another") // its process has no indexer: no process is notified
    expect(await look()).toBe(2)
  })
})
