import { describe, expect, test } from "vitest"
import type { CollectionId, UserId } from "../../core/protocol/ids.ts"
import { cutPassages } from "../../packs/research/passages/cut-passages.ts"
import { deleteEditions } from "../../core/store/library/editions.ts"
import { SqlLibrary } from "../../core/store/library/library.ts"
import { PassageIndexer } from "../../core/store/library/passage-indexer.ts"
import { openStore, type Store } from "../../core/store/store.ts"
import { databasesInTurn } from "../support/databases.ts"
import { WordEmbedder } from "../support/word-embedder.ts"
import { TurnedClock } from "../support/loop/world.ts"

const old = (word: string) => `${word} stood here before. `.repeat(20)
const fresh = (word: string) => `${word} stands here anew. `.repeat(30)

/** One of two nodes that share a database. The test controls when its embedder answers. */
class Node {
  readonly embedder = new WordEmbedder()
  readonly library: SqlLibrary
  readonly #release = Promise.withResolvers<void>()
  readonly #given = Promise.withResolvers<void>()
  readonly given = this.#given.promise
  readonly indexer: PassageIndexer
  readonly problems: unknown[] = []

  constructor(store: Store, clock: TurnedClock) {
    this.embedder.held = this.#release.promise
    // Called when it is asked, and before it waits.
    Object.defineProperty(this.embedder, "asked", { get: () => 0, set: () => this.#given.resolve() })
    this.library = new SqlLibrary(store.engine, { clock, embedder: this.embedder.name })
    const warn = (what: string, { error }: { error?: unknown } = {}) => void this.problems.push(what, error)
    const log = { info() {}, warn, error: warn }
    this.indexer = new PassageIndexer({ library: this.library, embedder: this.embedder, clock, log })
  }

  async settle(): Promise<void> {
    this.#release.resolve()
    await this.indexer.settled()
  }
}

describe.each(databasesInTurn(import.meta.filename))(
  "two nodes that compute vectors of the same passages, on $name",
  ({ name, create }) => {
    test.each([
      ["nothing changes", "one after the other"],
      ["nothing changes", "at once"],
      ["one document is deleted", "one after the other"],
      ["one document is deleted", "at once"],
      ["one document is replaced", "one after the other"],
      ["one document is replaced", "at once"],
      ["one document is deleted and added again", "one after the other"],
      ["one document is deleted and added again", "at once"],
    ] as const)("store each vector once, none of deleted texts: %s, and they answer %s", async (change, order) => {
      await using place = await create()
      await using store = await openStore({ url: place.url, durability: "normal" })
      // A file of SQLite has one owner: there both work through it.
      await using second = name === "postgres" ? await openStore({ url: place.url, durability: "normal" }) : undefined
      const clock = new TurnedClock()
      const { id: user } = await store.people.ensure("ada", 0)
      const keeper = new SqlLibrary(store.engine, { clock, embedder: new WordEmbedder().name })
      const collection = await keeper.ensureCollection(user, "Papers")
      for (const word of ["wing", "soup", "moon"]) await keep(keeper, { user, collection }, word, old(word))

      const nodes = [new Node(store, clock), new Node(second ?? store, clock)] as const
      // One of them claims all, and is so slow that its claim expires: then the other starts with the same.
      let both = false
      void Promise.all(nodes.map(({ given }) => given)).then(() => (both = true))
      while (!both) {
        await clock.turn(30_000)
        await new Promise((resolve) => setImmediate(resolve))
      }
      const soup = (await keeper.documents(user, collection, { limit: 10 })).items.find(
        ({ title }) => title === "soup",
      )!
      if (change.includes("deleted")) await keeper.removeDocument(user, collection, soup.id)
      if (change.includes("replaced") || change.includes("again"))
        await keep(keeper, { user, collection }, "soup", fresh("soup"))
      // The passages are already deleted when their vectors arrive: no later cleanup would delete these.
      await deleteEditions(store.engine, clock.now(), new AbortController().signal)
      if (order === "at once") await Promise.all(nodes.map((node) => node.settle()))
      else for (const node of nodes) await node.settle()
      // A node finds passages that were added after its last poll once it is notified, as in one process.
      for (const { indexer } of nodes) indexer.wake()
      for (const { indexer } of nodes) await indexer.settled()
      for (const { indexer } of nodes) await indexer.close()

      // A refused write is no error, and the key of the table does not have to refuse a row.
      expect(nodes.flatMap(({ problems }) => problems)).toEqual([])
      const passages = await store.engine.query<{ edition: string; ordinal: number }>(
        `SELECT passage.edition, passage.ordinal FROM passage
        JOIN document ON document.id = passage.document AND document.edition = passage.edition
        ORDER BY passage.edition, passage.ordinal`,
        [],
      )
      const vectors = await store.engine.query<{ edition: string; ordinal: number; version: number; document: string }>(
        "SELECT edition, ordinal, version, document FROM passage_vector ORDER BY edition, ordinal",
        [],
      )
      expect(vectors.map(({ edition, ordinal }) => [edition, ordinal])).toEqual(
        passages.map(({ edition, ordinal }) => [edition, ordinal]),
      )
      // A node that reads on from a number would miss another vector with the same one.
      expect(new Set(vectors.map(({ version }) => version)).size).toBe(vectors.length)
      const [counted] = await store.engine.query<{ vectors: number }>("SELECT vectors FROM collection", [])
      expect(Math.max(...vectors.map(({ version }) => Number(version)))).toBeLessThanOrEqual(Number(counted!.vectors))

      const isGone = change === "one document is deleted"
      for (const { library, embedder } of nodes) {
        const vector = { embedder: embedder.name, numbers: [...embedder.vectorOf("soup")] }
        const found = await library.search(user, { text: "", limit: 50, vector })
        expect(new Set(found.map(({ id }) => id)).size).toBe(vectors.length)
        expect(found.filter(({ text }) => text.includes("soup")).length > 0).toBe(!isGone)
        if (change !== "nothing changes") expect(found.some(({ text }) => text.includes("soup stood"))).toBe(false)
      }
    })
  },
)

interface Shelf {
  readonly user: UserId
  readonly collection: CollectionId
}

async function keep(library: SqlLibrary, { user, collection }: Shelf, source: string, text: string): Promise<void> {
  const passages = cutPassages(text, [{ headings: [], start: 0, end: text.length }], { most: 200, least: 20 })
  const about = { source, kind: "text", title: source, authors: [], date: null, hash: `hash of ${text}` } as const
  await library.keep(user, collection, { ...about, text, passages })
}
