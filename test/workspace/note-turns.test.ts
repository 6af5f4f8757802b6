import { describe, expect, test } from "vitest"
import type { UserId } from "../../core/protocol/ids.ts"
import { indexNotes } from "../../core/store/workspace/note-indexer.ts"
import { SqlNoteVectors } from "../../core/store/workspace/note-vectors.ts"
import { openStore, type Store } from "../../core/store/store.ts"
import { databasesInTurn } from "../support/databases.ts"
import { WordEmbedder } from "../support/word-embedder.ts"
import { TurnedClock } from "../../core/engine/turned-clock.fixture.ts"

const log = { info() {}, warn() {}, error() {} }
const [ada, bob] = ["user_a", "user_b"] as UserId[] as [UserId, UserId]

describe.each(databasesInTurn(import.meta.filename))("pending vectors of notes, on $name", ({ create }) => {
  /** Two processes that share a database. Neither makes vectors before the test starts it. */
  async function setUp() {
    const place = await create()
    const clock = new TurnedClock()
    const open = () => openStore({ url: place.url, durability: "normal", clock })
    const stores = [await open(), await open()] as const
    const indexers: ReturnType<typeof indexNotes>[] = []
    const start = (store: Store, embedder = new WordEmbedder()) => {
      indexers.push(indexNotes({ workspaces: store.workspaces, embedder, clock, log }))
      return embedder
    }
    const put = async (user: UserId, title: string) => {
      const data = { title, content: `Words of ${title}.`, projectId: null }
      const { after } = await stores[0].workspaceOf(user).edit({ action: "insert", table: "notes", data })
      return (after as { id: string }).id
    }
    const vectors = new SqlNoteVectors(stores[0].engine, new WordEmbedder().name, { clock })
    const waiting = async () => (await vectors.progress(ada)).waiting + (await vectors.progress(bob)).waiting
    return {
      ...{ clock, stores, start, put, vectors, waiting },
      async [Symbol.asyncDispose]() {
        for (const indexer of indexers) await indexer.close()
        for (const store of stores) await store[Symbol.asyncDispose]()
        await place[Symbol.asyncDispose]()
      },
    }
  }

  test("are made in turns: a person with many notes does not delay one with a single note", async () => {
    await using world = await setUp()
    for (let i = 0; i < 80; i++) await world.put(bob, `bob ${i}`)
    await world.put(ada, "ada")
    const { seen } = world.start(world.stores[0])
    await expect.poll(() => seen.length).toBe(81)
    expect(seen.findIndex((text) => text.includes("ada"))).toBeLessThan(40)
  })

  test("are made once, with any number of processes", async () => {
    await using world = await setUp()
    for (let i = 0; i < 40; i++) await world.put(i % 2 ? ada : bob, `note ${i}`)
    while (!(await world.vectors.sweep())); // so that both find them at once
    const held = Promise.withResolvers<void>()
    const embedders = world.stores.map((store) => {
      const embedder = new WordEmbedder()
      embedder.held = held.promise
      return world.start(store, embedder)
    })
    await expect.poll(() => embedders.every(({ asked }) => asked > 0)).toBe(true)
    held.resolve()
    await expect.poll(world.waiting).toBe(0)
    const seen = embedders.flatMap((embedder) => embedder.seen)
    expect([seen.length, new Set(seen).size]).toEqual([40, 40])
  })

  test("that a killed process had claimed are made by another when the claim expires, and not before", async () => {
    await using world = await setUp()
    await world.put(ada, "note")
    while (!(await world.vectors.sweep()));
    expect(await world.vectors.claim(ada, 16)).toHaveLength(1) // and then it is gone
    const embedder = world.start(world.stores[1])
    await expect.poll(() => world.clock.pending).toContain(2000)
    expect(embedder.asked).toBe(0)
    await expect
      .poll(() => {
        world.clock.turn(2000)
        return embedder.seen.length
      })
      .toBe(1)
    await expect.poll(world.waiting).toBe(0)
  })

  test("of a changed note are made at once, also while another process makes those of its previous text", async () => {
    await using world = await setUp()
    const id = await world.put(ada, "note")
    while (!(await world.vectors.sweep()));
    await world.vectors.claim(ada, 16)
    const embedder = world.start(world.stores[1])
    const updates = { content: "Other words." }
    await world.stores[1].workspaceOf(ada).edit({ action: "update", table: "notes", id, updates })
    await expect.poll(() => embedder.seen).toEqual(["note\n\nOther words."])
  })

  test("that another process makes are awaited by a search in this one", async () => {
    await using world = await setUp()
    await world.put(ada, "note")
    const embedder = new WordEmbedder()
    const held = Promise.withResolvers<void>()
    embedder.held = held.promise
    world.start(world.stores[0], embedder)
    await expect.poll(() => embedder.asked).toBe(1)
    const other = world.start(world.stores[1])
    const vector = { embedder: other.name, numbers: [...other.vectorOf("words of note")] }
    let found: readonly unknown[] | undefined
    void world.stores[1]
      .workspaceOf(ada)
      .nearest(vector, { limit: 3 })
      .then((some) => (found = some))
    await expect.poll(() => world.clock.pending).toContain(5000)
    expect(found).toBeUndefined()
    held.resolve()
    await expect.poll(world.waiting).toBe(0)
    await expect.poll(() => found).toHaveLength(1)
    expect(other.seen).toEqual([])
  })
})
