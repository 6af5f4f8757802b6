import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { afterAll, describe, expect, test } from "vitest"
import { systemClock } from "../../src/agent/clock.ts"
import { LocalEmbedder } from "../../src/models/local-embedder.ts"
import { Librarian } from "../../src/packs/research/librarian.ts"
import type { Embedder } from "../../src/protocol/workspace-port.ts"
import { SqlLibrary } from "../../src/store/library.ts"
import { PassageIndexer } from "../../src/store/passage-indexer.ts"
import { openStore } from "../../src/store/store.ts"
import { databases } from "../databases.ts"

interface Cranfield {
  readonly documents: readonly { readonly id: string; readonly title: string; readonly text: string }[]
  readonly queries: readonly { readonly id: string; readonly text: string }[]
  /** By query and document: how relevant. */
  readonly relevance: Readonly<Record<string, Readonly<Record<string, number>>>>
}

const file = join(import.meta.dirname, "..", "..", "..", "shared", "outside", "cranfield.json.gz")
/** Ten minutes of embedding: only where somebody asks for it, as whoever changes how passages are cut or found does. */
const there = existsSync(file) && process.env.PAWL_CRANFIELD === "on"
/** What FTS5 with Porter's stems does alone. */
const FULL_TEXT = 0.377
const CLEARLY = 0.02

/** Each text once, for both engines, and by two threads: the collection takes minutes. */
class Remembering implements Embedder {
  readonly #locals = [new LocalEmbedder(), new LocalEmbedder()] as const
  readonly #known = new Map<string, Promise<Float32Array>>()
  readonly name = this.#locals[0].name
  readonly dimensions = this.#locals[0].dimensions

  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const fresh = texts.filter((text) => !this.#known.has(text))
    for (const [turn, local] of this.#locals.entries()) {
      const share = fresh.filter((_, index) => index % this.#locals.length === turn)
      if (share.length === 0) continue
      const made = local.embed(share, signal)
      for (const [index, text] of share.entries())
        this.#known.set(
          text,
          made.then((vectors) => vectors[index]!),
        )
    }
    return Promise.all(texts.map((text) => this.#known.get(text)!))
  }

  close = () => Promise.all(this.#locals.map((local) => local.close()))
}

const embedder = new Remembering()
afterAll(() => embedder.close())

describe.runIf(there).each(databases)("1,400 abstracts and 225 questions on $name", ({ create }) => {
  test("are found better by words and meaning together than by words alone", async () => {
    const { documents, queries, relevance } = JSON.parse(gunzipSync(readFileSync(file)).toString()) as Cranfield
    await using database = await create()
    await using store = await openStore({ url: database.url, durability: "normal" })
    const library = new SqlLibrary(store.engine, { clock: systemClock, embedder: embedder.name })
    const librarian = new Librarian(library, embedder)
    const { id: user } = await store.people.ensure("ada", 0)
    const collection = await library.ensureCollection(user, "Cranfield")
    const { signal } = new AbortController()
    for (const { id, title, text } of documents) {
      if (text.trim() === "") continue
      const file = { name: `${id}.txt`, bytes: Buffer.from(text), title: title.replaceAll(/\s+/g, " ") || id }
      await librarian.ingest({ user, collection, signal }, file)
    }
    const indexer = new PassageIndexer({
      library,
      embedder,
      clock: systemClock,
      log: { info() {}, warn() {}, error() {} },
    })
    await indexer.settled()
    await indexer.close()

    const measure = async (byMeaning: boolean) => {
      let sum = 0
      for (const { id, text } of queries) {
        const [numbers] = byMeaning ? await embedder.embed([text], signal) : []
        const vector = numbers ? { vector: { embedder: embedder.name, numbers: [...numbers] } } : {}
        const found = await library.search(user, { text, limit: 50, ...vector })
        const ranked = [...new Set(found.map(({ source }) => source.replace(".txt", "")))]
        sum += ndcg(ranked, relevance[id] ?? {})
      }
      return sum / queries.length
    }
    const [words, both] = [await measure(false), await measure(true)]
    process.stdout.write(
      `nDCG@10 on ${store.engine.name}: words ${words.toFixed(3)}, words and meaning ${both.toFixed(3)}\n`,
    )
    expect(both).toBeGreaterThan(FULL_TEXT + CLEARLY)
    expect(both).toBeGreaterThan(words + CLEARLY)
  }, 2_400_000)
})

test.skipIf(there)(
  "Cranfield was not asked for (PAWL_CRANFIELD=on), or its collection, which is no part of this repository, is not here: nothing was measured",
  () => {},
)

function ndcg(ranked: readonly string[], relevant: Readonly<Record<string, number>>): number {
  const gain = (grade: number, place: number) => (2 ** Math.max(grade, 0) - 1) / Math.log2(place + 2)
  const sum = (grades: readonly number[]) =>
    grades.slice(0, 10).reduce((all, grade, place) => all + gain(grade, place), 0)
  const ideal = sum(Object.values(relevant).sort((a, b) => b - a))
  return ideal === 0 ? 0 : sum(ranked.map((id) => relevant[id] ?? 0)) / ideal
}
