import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { afterAll, describe, expect, test } from "vitest"
import { systemClock } from "../../core/shared/time/clock.ts"
import { Librarian } from "../../packs/research/librarian.ts"
import { SqlLibrary } from "../../core/store/library/library.ts"
import { PassageIndexer } from "../../core/store/library/passage-indexer.ts"
import { openStore } from "../../core/store/store.ts"
import { dot } from "../../core/shared/vectors/unit.ts"
import { anyDatabase } from "../support/databases.ts"
import { RecordedEmbedder } from "./recorded-embedder.ts"
import { isLong, oneIn } from "../support/sizes.ts"

interface Cranfield {
  readonly documents: readonly { readonly id: string; readonly title: string; readonly text: string }[]
  readonly queries: readonly { readonly id: string; readonly text: string }[]
  /** By query and document: how relevant. */
  readonly relevance: Readonly<Record<string, Readonly<Record<string, number>>>>
}

const collectionFile = join(import.meta.dirname, "..", "..", "..", "shared", "outside", "cranfield.json.gz")
const vectorsFile = join(import.meta.dirname, "..", "fixtures", "cranfield-vectors.bin")
const there = existsSync(collectionFile)
/** Computes all embeddings again, which takes ten minutes, and writes the file of vectors. */
const fresh = process.env.PAWL_CRANFIELD === "fresh"
const HOW_TO = `other texts are embedded than those in cranfield-vectors.bin, or by another embedder: write it anew with
  PAWL_CRANFIELD=fresh npx vitest run --project slow test/research/cranfield.slow.test.ts   (ten minutes), and put the new figures into docs/reference/documents.md`
const MAX_MISSING = 5
const AT_ONCE = 8
const SAMPLE = isLong ? 24 : 3

/** The score of FTS5 with Porter's stemmer alone, over whole abstracts. */
const FULL_TEXT = 0.377
const CLEARLY = 0.02
/** Another version of PostgreSQL or SQLite may rank a little differently. */
const SAME = 0.004

const embedder = new RecordedEmbedder(fresh ? undefined : vectorsFile)
const { signal } = new AbortController()
afterAll(() => embedder.close())

// The tests of the library send the same queries to PostgreSQL; long runs measure how well it ranks. Only a change of
// the search changes the scores: one run in four measures them.
const isMeasured = fresh || oneIn(4, [true, false, false, false])[0] === true
describe.runIf(there && isMeasured).each(anyDatabase)(
  "1,400 abstracts and 225 questions on $name",
  ({ name, create }) => {
    test("words and meaning together find better passages than words alone, as the docs say", async () => {
      const { documents, queries, relevance } = JSON.parse(
        gunzipSync(readFileSync(collectionFile)).toString(),
      ) as Cranfield
      await using database = await create()
      await using store = await openStore({ url: database.url, durability: "normal" })
      const library = new SqlLibrary(store.engine, { clock: systemClock, embedder: embedder.name })
      const librarian = new Librarian(library, embedder)
      const { id: user } = await store.people.ensure("ada", 0)
      const collection = await library.ensureCollection(user, "Cranfield")
      const files = documents
        .filter(({ text }) => text.trim() !== "")
        .map(({ id, title, text }) => {
          return { name: `${id}.txt`, bytes: Buffer.from(text), title: title.replaceAll(/\s+/g, " ") || id }
        })
      const ingest = async (part: typeof files) => {
        for (let at = 0; at < part.length; at += AT_ONCE) {
          const some = part.slice(at, at + AT_ONCE)
          await Promise.all(some.map((file) => librarian.ingest({ user, collection, signal }, file)))
        }
      }
      const embedAll = async () => {
        const indexer = new PassageIndexer({ library, embedder, clock: systemClock, log })
        await indexer.settled()
        await indexer.close()
      }
      const log = { info() {}, warn() {}, error() {} }
      // The vectors of a tenth of the documents are ready when the others are uploaded.
      const tenth = Math.round(files.length / 10)
      await ingest(files.slice(0, tenth))
      await embedAll()
      await ingest(files.slice(tenth))

      const measure = async (by: { words: boolean; meaning: boolean }) => {
        const scores = queries.map(async ({ id, text }) => {
          const [numbers] = by.meaning ? await embedder.embed([text], signal) : []
          const vector = numbers ? { vector: { embedder: embedder.name, numbers: [...numbers] } } : {}
          const found = await library.search(user, { text: by.words ? text : "", limit: 50, ...vector })
          const ranked = [...new Set(found.map(({ source }) => source.replace(".txt", "")))]
          return ndcg(ranked, relevance[id] ?? {})
        })
        return (await Promise.all(scores)).reduce((sum, score) => sum + score, 0) / queries.length
      }
      const words = await measure({ words: true, meaning: false })
      const partly = await measure({ words: true, meaning: true })
      await embedAll()
      if (!fresh) expect(embedder.missing.length, HOW_TO).toBeLessThanOrEqual(MAX_MISSING)
      // In usual runs the docs state this score without a test; long runs test it.
      const meaning = isLong || fresh ? await measure({ words: false, meaning: true }) : Number.NaN
      const both = await measure({ words: true, meaning: true })
      const shown = [words, meaning, both, partly].map((figure) => figure.toFixed(3))
      process.stdout.write(
        `nDCG@10 on ${name}, by words, by meaning, by both, with a tenth embedded: ${shown.join(", ")}\n`,
      )
      expect(partly).toBeGreaterThanOrEqual(words)
      if (fresh) return
      expect(embedder.missing.length, HOW_TO).toBeLessThanOrEqual(MAX_MISSING)
      expect(both).toBeGreaterThan(FULL_TEXT + CLEARLY)
      expect(both).toBeGreaterThan(words + CLEARLY)
      for (const [place, figure] of figuresInDocs(name).entries())
        if (!Number.isNaN([words, meaning, both][place]))
          expect(
            Math.abs(figure - [words, meaning, both][place]!),
            `docs/reference/documents.md says ${figure}`,
          ).toBeLessThan(SAME)
    }, 2_400_000)
  },
)

test.runIf(there && !fresh && isMeasured)(
  "the float vectors in the file nearly equal those that the local embedder computes of these texts in bytes",
  { timeout: 600_000 }, // seconds for each text on a busy machine
  async () => {
    const sample = embedder.sample(SAMPLE)
    expect(sample.length, HOW_TO).toBe(SAMPLE)
    const [kept, made] = [await embedder.embed(sample, signal), await embedder.embedAfresh(sample, signal)]
    const cosines = sample.map((_, i) => dot(kept[i]!, made[i]!))
    expect(Math.min(...cosines), HOW_TO).toBeGreaterThan(0.99)
  },
)

test.runIf(there && fresh)("the vectors are written", async () => {
  await embedder.write(vectorsFile)
})

test.skipIf(there)(
  "without Cranfield's collection, which is not part of this repository, nothing is measured",
  () => {},
)

/** By words, by meaning, by both: this engine's row of the table. */
function figuresInDocs(engine: string): number[] {
  const page = readFileSync(join(import.meta.dirname, "..", "..", "docs", "reference", "documents.md"), "utf8")
  const [, line] =
    new RegExp(`^\\| ${engine === "sqlite" ? "SQLite" : "PostgreSQL"} \\| (0[.|0-9 ]+)\\|$`, "m").exec(page) ?? []
  const figures = (line ?? "").split("|").map(Number)
  expect(figures, "docs/reference/documents.md has a table with the figures").toHaveLength(3)
  return figures
}

function ndcg(ranked: readonly string[], relevant: Readonly<Record<string, number>>): number {
  const gain = (grade: number, place: number) => (2 ** Math.max(grade, 0) - 1) / Math.log2(place + 2)
  const sum = (grades: readonly number[]) =>
    grades.slice(0, 10).reduce((all, grade, place) => all + gain(grade, place), 0)
  const ideal = sum(Object.values(relevant).sort((a, b) => b - a))
  return ideal === 0 ? 0 : sum(ranked.map((id) => relevant[id] ?? 0)) / ideal
}
