import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { silentLog } from "../../core/shared/log.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { failure } from "../../core/protocol/errors.ts"
import type { CollectionView } from "../../core/protocol/library.ts"
import { SqlLibrary } from "../../core/store/library/library.ts"
import { PassageIndexer } from "../../core/store/library/passage-indexer.ts"
import { openStore } from "../../core/store/store.ts"
import { shared } from "../cluster/links.ts"
import { anyDatabase, databases } from "../support/databases.ts"
import { TurnedClock } from "../support/loop/world.ts"
import { Face, type Visitor } from "../support/server/face.ts"
import { readFrames } from "../support/server/stream.ts"
import { WordEmbedder } from "../support/word-embedder.ts"

/** Embeds a batch with each step of the test. */
class SteppedEmbedder extends WordEmbedder {
  #steps = 0
  #wake = () => {}

  step(): void {
    this.#steps++
    this.#wake()
  }

  override async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const stopped = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }))
    while (this.#steps === 0 && !signal.aborted)
      await Promise.race([stopped, new Promise<void>((resolve) => (this.#wake = resolve))])
    this.#steps--
    return super.embed(texts, signal)
  }
}

const sections = (count: number) =>
  Array.from({ length: count }, (_, i) => `# Part ${i}\n\nWhat stands in part ${i}.`).join("\n\n")

describe.each(anyDatabase)("the progress of documents, on $name", ({ create }) => {
  let face: Face
  let ada: Visitor
  const embedder = new SteppedEmbedder()
  const clock = new TurnedClock()

  beforeAll(async () => {
    face = await Face.open({ url: (await create()).url, model: scripted(), embedder, clock })
    ada = await face.as("ada")
  })
  afterAll(() => face[Symbol.asyncDispose]())

  const made = async (name: string) => (await ada.post("/api/collections", { name })).body.id as string
  const add = (id: string, name: string, parts: number) =>
    ada.post(`/api/collections/${id}/documents`, { name, content: sections(parts) })

  /** Polls, as a page does, until the condition holds. */
  async function seen(id: string, isSo: (collection: CollectionView) => boolean): Promise<CollectionView> {
    for (;;) {
      const { body } = await ada.get(`/api/collections/${id}`)
      if (isSo(body)) return body
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const embedded = (least: number) => (collection: CollectionView) =>
    collection.progress === undefined || collection.progress.embedded >= least
  async function step(id: string, least: number): Promise<CollectionView> {
    embedder.step()
    return seen(id, embedded(least))
  }

  test("passages are counted, the time left is reported once measured, and finished work has no progress", async () => {
    const id = await made("Long")
    expect((await ada.get(`/api/collections/${id}`)).body.progress).toBeUndefined()
    await add(id, "long.md", 200)
    const progress = { documents: 1, passages: 200 }
    expect((await seen(id, () => true)).progress).toEqual({ ...progress, embedded: 0 })
    expect((await step(id, 64)).progress).toEqual({ ...progress, embedded: 64 })
    await clock.turn(4000)
    // 64 in four seconds, so 72 take four and a half.
    expect((await step(id, 128)).progress).toEqual({ ...progress, embedded: 128, secondsLeft: 5 })
    const { body: list } = await ada.get("/api/collections")
    expect(list.items[0].progress).toEqual({ ...progress, embedded: 128, secondsLeft: 5 })
    const bob = await face.as("bob")
    expect((await bob.get("/api/collections")).body.items).toEqual([])
    await step(id, 192)
    expect((await step(id, 200)).progress).toBeUndefined()
  })

  test("a problem is reported with the time of the next attempt, and disappears when the work continues", async () => {
    const id = await made("Troubled")
    embedder.failure = () => failure("overloaded", { provider: "The embedder" })
    await add(id, "troubled.md", 3)
    embedder.step()
    const { progress } = await seen(id, (collection) => collection.progress?.problem !== undefined)
    expect(progress).toEqual({
      ...{ documents: 1, passages: 3, embedded: 0 },
      problem: failure("overloaded", { provider: "The embedder" }).message,
      retryAt: new Date(clock.now() + 1000).toISOString(),
    })
    embedder.failure = undefined
    embedder.step()
    await clock.turn(1000)
    expect((await seen(id, embedded(3))).progress).toBeUndefined()
  })

  test("internal errors are not shown to users", async () => {
    const id = await made("Secret")
    embedder.failure = () => new Error("postgres://root:hunter2@db")
    await add(id, "secret.md", 1)
    embedder.step()
    const { progress } = await seen(id, (collection) => collection.progress?.problem !== undefined)
    expect(progress?.problem).toBe("Passages cannot be embedded now: the server's log says why.")
    embedder.failure = undefined
    embedder.step()
    await clock.turn(1000)
    await seen(id, embedded(1))
  })

  test("the feed sends it every two seconds, to its user alone, and sends that it is over", async () => {
    const id = await made("Fed")
    const isOver = (seenFrames: readonly { type: string; data: { collections?: unknown[] } }[]) =>
      seenFrames.some(({ type, data }) => type === "ingest" && data.collections?.length === 0)
    const told = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const feed = readFrames(await ada.send("GET", "/api/feed"), (seenFrames) => {
      const frames = seenFrames.filter(({ type }) => type === "ingest")
      if (frames.length > 0) told[0]?.resolve()
      if (frames.at(-1)?.data.collections[0]?.progress.embedded === 64) told[1]?.resolve()
      return isOver(seenFrames)
    })
    const bob = await face.as("bob")
    const other = readFrames(await bob.send("GET", "/api/feed"), (seenFrames) => seenFrames.length === 2)
    await add(id, "fed.md", 70)
    await told[0]?.promise
    await step(id, 64)
    await clock.turn(2000)
    await told[1]?.promise
    await step(id, 70)
    await clock.turn(2000)
    const frames = (await feed).filter(({ type }) => type === "ingest")
    const progress = { documents: 1, passages: 70 }
    expect(frames[0]?.data).toEqual({
      collections: [{ collectionId: id, name: "Fed", progress: { ...progress, embedded: 0 } }],
    })
    expect(frames.at(-1)?.data).toEqual({ collections: [] })
    await bob.begin({ title: "Bob's own" })
    expect((await other).map(({ type }) => type)).toEqual(["snapshot", "conversation"])
  })
})

/** A document of a hundred passages, as a process next to the server stores it. */
const document = {
  ...{ source: "a", kind: "text" as const, title: "a", authors: [], date: null, hash: "a", text: "x".repeat(100) },
  passages: Array.from({ length: 100 }, (_, i) => ({ start: i, end: i + 1, headings: [] })),
} as const

test("a client that watches is notified of documents that another process works on", async () => {
  const { url } = await anyDatabase[0]!.create()
  await using store = await openStore({ url, durability: "normal" })
  const [clock, embedder] = [new TurnedClock(), new WordEmbedder()]
  const [here, beside] = [1, 2].map(() => new SqlLibrary(store.engine, { clock, embedder: embedder.name })) as [
    SqlLibrary,
    SqlLibrary,
  ]
  const indexer = new PassageIndexer({ library: here, embedder, clock, log: silentLog })
  await indexer.settled()
  const user = await userOf({ store })
  let told = 0
  here.ingests.watch(user, () => told++)
  await beside.keep(user, await beside.ensureCollection(user, "Papers"), document)
  expect(await beside.vectors.claim(user, 64)).toHaveLength(1)
  await clock.turn(2000)
  await indexer.settled()
  await indexer.close()
  expect([told, embedder.seen]).toEqual([1, []])
})

describe.each(shared)("two servers on one $name", ({ create }) => {
  test("the feed of one node reports a document that another node has ingested, however short it is", async () => {
    await using place = await create()
    const clock = new TurnedClock()
    await using one = await Face.open({ url: place.url, model: scripted(), embedder: new WordEmbedder() })
    await using two = await Face.open({ url: place.url, model: scripted(), embedder: new WordEmbedder(), clock })
    const [here, there] = [await one.as("ada"), await two.as("ada")]
    let isTold = false
    const feed = readFrames(await there.send("GET", "/api/feed"), (frames) => {
      return (isTold = frames.some(({ type, data }) => type === "ingest" && data.collections.length === 0))
    })
    const { id } = (await here.post("/api/collections", { name: "Papers" })).body
    await here.post(`/api/collections/${id}/documents`, { name: "a.md", content: sections(1) })
    await expect.poll(async () => (await here.get(`/api/collections/${id}`)).body.progress).toBeUndefined()
    const counted = async () => (await one.store.news.read([await userOf(one)])).map(({ kind }) => kind)
    await expect.poll(counted).toContain("library")
    for (let ms = 0; !isTold && ms < 30_000; ms += 100) {
      await clock.turn(100)
      await two.store.engine.query("SELECT 1", []) // by then most requests have been answered
    }
    expect(isTold).toBe(true)
    await feed
  })
})

const userOf = async ({ store }: Pick<Face, "store">) => (await store.people.ensure("ada", 0)).id

test("work of a killed server continues at once when it starts again, from where it was", async () => {
  const { url } = await databases.find(({ name }) => name === "sqlite")!.create()
  const clock = new TurnedClock()
  const embedder = new WordEmbedder()
  let collection: Awaited<ReturnType<SqlLibrary["ensureCollection"]>>
  {
    await using store = await openStore({ url, durability: "normal", clock })
    const library = new SqlLibrary(store.engine, { clock, embedder: embedder.name })
    const { id: user } = await store.people.ensure("ada", 0)
    collection = await library.ensureCollection(user, "Papers")
    await library.keep(user, collection, document)
    const [claimed] = await library.vectors.claim(user, 64)
    await library.vectors.keep([{ ...claimed!, vectors: Array.from({ length: 64 }, () => embedder.vectorOf("x")) }])
    // It is killed while it holds the rest: a claim is not released.
    expect(await library.vectors.claim(user, 64)).toHaveLength(1)
    const beside = new SqlLibrary(store.engine, { clock, embedder: embedder.name })
    await beside.vectors.releaseStale() // another part of a live process claims nothing of it
    expect(await beside.vectors.claim(user, 64)).toEqual([])
  }
  await using store = await openStore({ url, durability: "normal", clock })
  const library = new SqlLibrary(store.engine, { clock, embedder: embedder.name })
  const { id: user } = await store.people.ensure("ada", 0)
  expect((await library.collection(user, collection))?.progress).toEqual({ documents: 1, passages: 100, embedded: 64 })
  const indexer = new PassageIndexer({ library, embedder, clock, log: silentLog })
  await indexer.settled()
  await indexer.close()
  expect((await library.collection(user, collection))?.progress).toBeUndefined()
  expect(embedder.seen).toHaveLength(36)
})
