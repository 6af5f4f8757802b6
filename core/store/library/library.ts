import type { Clock } from "../../shared/time/clock.ts"
import type { CollectionId, DocumentId, PassageId, UserId } from "../../protocol/ids.ts"
import {
  type CollectionView,
  type DocumentKind,
  type FoundPassage,
  fromDay,
  type IngestingCollection,
  type PassageView,
  toDayNumber,
} from "../../protocol/library.ts"
import type { LibraryRecords, PassageQuery, ReadDocument } from "../../engine/library.ts"
import type { PageQuery } from "../../protocol/requests.ts"
import { inPortions } from "../../workspace/layout.ts"
import { SqlCollections } from "./collections.ts"
import { SqlDocuments } from "./documents.ts"
import { passageId, parsePassageId } from "./editions.ts"
import type { Engine } from "../engine/engine.ts"
import { toWordQueries, rarestWords, type WordQuery } from "../engine/full-text.ts"
import { fuseRanks, fuseWithMeaning, type MeaningRanks } from "./fuse-ranks.ts"
import { SqlIngests } from "./ingests.ts"
import { PassageVectors } from "./passage-vectors.ts"

/** Matches of each list that are merged. Further ones would not change the first results. */
const DEPTH = 100

/** No limit. */
const NO_LIMIT = 1_000_000
/** The maximum passages that are ranked by words: more would take too long. */
const MAX_RANKED = 3000
/** From this size on, common words are left out. */
const LARGE_COLLECTION = 8000

const MAX_ROUNDS = 20

interface Searched {
  readonly user: UserId
  readonly collections: readonly CollectionId[]
  readonly passages: number
}

export interface LibraryOptions {
  readonly clock: Clock
  /** The name of the embedder whose vectors are used. */
  readonly embedder: string
  /** The size of a collection from which its index is written to a file. */
  readonly leastFiled?: number
}

/** People's collections of documents, searched by words and by meaning. */
export class SqlLibrary implements LibraryRecords {
  readonly #engine: Engine
  readonly #collections: SqlCollections
  readonly #documents: SqlDocuments
  readonly vectors: PassageVectors
  readonly ingests: SqlIngests
  readonly #listeners = new Set<(user: UserId) => void>()

  constructor(engine: Engine, { clock, embedder, ...filed }: LibraryOptions) {
    const now = () => clock.now()
    this.#engine = engine
    this.#collections = new SqlCollections(engine, now)
    this.#documents = new SqlDocuments(engine, embedder, now)
    this.ingests = new SqlIngests(engine, embedder, clock)
    this.vectors = new PassageVectors(engine, embedder, { clock, ...filed })
  }

  get engine(): Engine {
    return this.#engine
  }

  /** Called when a document was added, replaced or removed. */
  onChange(listener: (user: UserId) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async collections(user: UserId, page: PageQuery) {
    const [{ items, nextCursor }, ingests] = await Promise.all([
      this.#collections.list(user, page),
      this.ingests.of(user),
    ])
    return { items: items.map((each) => withProgress(each, ingests)), nextCursor }
  }

  async collection(user: UserId, id: CollectionId) {
    const [found, ingests] = await Promise.all([this.#collections.find(user, id), this.ingests.of(user)])
    return found && withProgress(found, ingests)
  }

  async progress(user: UserId, among?: readonly CollectionId[]) {
    const waiting = (await this.ingests.of(user)).filter(({ collectionId }) => among?.includes(collectionId) ?? true)
    if (waiting.length === 0) return undefined
    const sum = (of: "embedded" | "passages") => waiting.reduce((all, { progress }) => all + progress[of], 0)
    return { embedded: sum("embedded"), passages: sum("passages") }
  }

  createCollection = (user: UserId, name: string) => this.#collections.create(user, name)
  ensureCollection = (user: UserId, name: string) => this.#collections.ensure(user, name)

  documents = (user: UserId, collection: CollectionId, page: PageQuery) => this.#documents.list(user, collection, page)
  document = (user: UserId, id: DocumentId) => this.#documents.find(user, id)
  read: LibraryRecords["read"] = (user, id, window) => this.#documents.read(user, id, window)

  async removeCollection(user: UserId, id: CollectionId): Promise<void> {
    await this.#documents.removeAll(user, id)
    await this.vectors.indexes.removed(id)
    this.#tell(user)
  }

  async removeDocument(user: UserId, collection: CollectionId, id: DocumentId): Promise<void> {
    await this.#documents.remove(user, collection, id)
    await this.vectors.indexes.removed(collection)
    this.#tell(user)
  }

  async isKept(user: UserId, collection: CollectionId, { source, hash }: Pick<ReadDocument, "source" | "hash">) {
    const [same, named] = await Promise.all([
      this.#documents.same(user, collection, hash),
      this.#documents.named(user, collection, source),
    ])
    return named === undefined || named.hash === hash ? same?.id : undefined
  }

  async keep(user: UserId, collection: CollectionId, document: ReadDocument) {
    const kept = await this.#documents.keep(user, collection, document)
    if (kept.kept === "replaced") await this.vectors.indexes.removed(collection)
    if (kept.kept !== "unchanged") this.#tell(user)
    return kept
  }

  fail: LibraryRecords["fail"] = (user, collection, failed) => this.#documents.fail(user, collection, failed)

  async search(user: UserId, query: PassageQuery): Promise<FoundPassage[]> {
    const sizes = await this.#collections.sizes(user, query.collectionIds)
    const collections = sizes.map(({ id }) => id)
    const passages = sizes.reduce((sum, size) => sum + Number(size.passages), 0)
    if (collections.length === 0) return []
    for (let rounds = 1; ; rounds++) {
      const { found, gone } = await this.#round({ user, collections, passages }, query)
      // Deleted passages take the place of others only once, because they are removed from the index.
      this.vectors.indexes.forget(collections, gone)
      if (gone.length === 0 || found.length >= query.limit || rounds === MAX_ROUNDS) return found.slice(0, query.limit)
    }
  }

  async #round(searched: Searched, query: PassageQuery): Promise<{ found: FoundPassage[]; gone: string[] }> {
    const { user } = searched
    const [words, byMeaning] = await Promise.all([this.#byWords(searched, query), this.#byMeaning(searched, query)])
    const fused = fuseWithMeaning(words, byMeaning)
    const found: FoundPassage[] = []
    const gone: string[] = []
    // Deleted passages are replaced by the next ones.
    for (let from = 0; found.length < query.limit && from < fused.length; from += query.limit) {
      const some = fused.slice(from, from + query.limit)
      const there = new Map(
        (
          await this.#passages(
            user,
            some.map(({ id }) => id),
          )
        ).map((each) => [each.id, each]),
      )
      for (const { id, score } of some) {
        const passage = there.get(id as PassageId)
        if (passage) found.push({ ...passage, score })
        else gone.push(id)
      }
    }
    return { found, gone }
  }

  async passage(user: UserId, id: PassageId): Promise<PassageView | undefined> {
    return (await this.#passages(user, [id]))[0]
  }

  /** In both full-text indexes, if the question has terms for each. */
  async #byWords(searched: Searched, query: PassageQuery): Promise<string[]> {
    const lists = await Promise.all(toWordQueries(query.text).map((terms) => this.#byIndex(searched, query, terms)))
    return lists.length > 1 ? fuseRanks(lists).map(({ id }) => id) : (lists[0] ?? [])
  }

  async #byIndex(
    { user: person, collections, passages }: Searched,
    { from, to }: PassageQuery,
    terms: Pick<WordQuery, "among" | "words">,
  ): Promise<string[]> {
    const { fullText } = this.#engine
    const all = { person, collections, ...terms, days: daysOf({ from, to }), limit: DEPTH }
    let { words } = all
    if (passages > LARGE_COLLECTION) {
      const countQuery = fullText.count({ ...all, limit: MAX_RANKED })
      const counts = await this.#engine.query<{ n: number }>(countQuery.sql, countQuery.values)
      words = rarestWords(
        words.map((word, i) => ({ word, passages: Number(counts[i]?.n ?? 0) })),
        MAX_RANKED,
      )
    }
    const find = (depth: number) => {
      const { sql, values } = fullText.search({ ...all, words, depth })
      return this.#engine.query<{ edition: string; ordinal: number }>(sql, values)
    }
    let rows = await find(2 * DEPTH)
    // The first matches may all have other dates, or belong to deleted editions.
    if (rows.length < DEPTH && passages > DEPTH) rows = await find(NO_LIMIT)
    return rows.map(({ edition, ordinal }) => passageId(edition, Number(ordinal)))
  }

  async #byMeaning({ collections, passages }: Searched, { vector, from, to }: PassageQuery): Promise<MeaningRanks> {
    if (vector?.embedder !== this.vectors.embedder) return { ids: [], share: 0, hasVector: () => false }
    const dated =
      from === undefined && to === undefined
        ? {}
        : { among: await this.vectors.dated(collections, daysOf({ from, to })) }
    const byMeaning = await this.vectors.nearest({ collections, numbers: vector.numbers, limit: DEPTH, ...dated })
    // The index may contain deleted passages, and the count may be older than the index.
    return { ...byMeaning, share: Math.min(1, byMeaning.embedded / Math.max(1, passages)) }
  }

  /** Passages of current editions, in no order. */
  async #passages(user: UserId, ids: readonly string[]): Promise<PassageView[]> {
    const places = ids.flatMap((id) => parsePassageId(id as PassageId) ?? [])
    const rows = await Promise.all(
      inPortions(places).map((some) => {
        // The person in each condition: otherwise SQLite scans all passages of the person.
        const sql = `SELECT passage.edition, passage.ordinal, passage.heading, passage.start_at, passage.end_at, passage.hash,
            passage.text, document.id, document.collection, document.title, document.authors, document.source,
            document.format, document.day, collection.name
          FROM passage JOIN document ON document.id = passage.document AND document.edition = passage.edition
            JOIN collection ON collection.id = document.collection
          WHERE ${some.map(() => "(passage.person = ? AND passage.edition = ? AND passage.ordinal = ?)").join(" OR ")}`
        return this.#engine.query<PassageRow>(
          sql,
          some.flatMap(({ edition, ordinal }) => [user, edition, ordinal]),
        )
      }),
    )
    return rows.flat().map(toPassage)
  }

  #tell(user: UserId): void {
    for (const listener of this.#listeners) listener(user)
    this.ingests.tell(user)
  }
}

function withProgress(collection: CollectionView, ingests: readonly IngestingCollection[]): CollectionView {
  const progress = ingests.find(({ collectionId }) => collectionId === collection.id)?.progress
  return progress ? { ...collection, progress } : collection
}

function daysOf({ from, to }: { from: string | undefined; to: string | undefined }): { from?: number; to?: number } {
  return {
    ...(from === undefined ? {} : { from: toDayNumber(from) }),
    ...(to === undefined ? {} : { to: toDayNumber(to, true) }),
  }
}

interface PassageRow {
  readonly edition: string
  readonly ordinal: number
  readonly heading: string
  readonly start_at: number
  readonly end_at: number
  readonly hash: string
  readonly text: string
  readonly id: DocumentId
  readonly collection: CollectionId
  readonly title: string
  readonly authors: string
  readonly source: string
  readonly name: string
  readonly format: DocumentKind
  readonly day: number | null
}

function toPassage({ edition, ordinal, heading, start_at, end_at, day, ...row }: PassageRow): PassageView {
  return {
    id: passageId(edition, Number(ordinal)),
    documentId: row.id,
    collectionId: row.collection,
    collection: row.name,
    authors: JSON.parse(row.authors) as string[],
    ...{ title: row.title, source: row.source, kind: row.format, date: fromDay(day), ordinal: Number(ordinal) },
    headings: JSON.parse(heading) as string[],
    text: row.text,
    span: { start: Number(start_at), end: Number(end_at) },
    hash: row.hash,
  }
}
