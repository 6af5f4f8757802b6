import { setImmediate as nextTurn } from "node:timers/promises"
import type { Page } from "../../protocol/answers.ts"
import { failure, hasCode } from "../../protocol/errors.ts"
import { type CollectionId, type DocumentId, type EditionId, newId, type UserId } from "../../protocol/ids.ts"
import {
  type DocumentKind,
  type DocumentView,
  fromDay,
  type TextQuery,
  type TextWindow,
} from "../../protocol/library.ts"
import { type DocumentChange, type LibraryRecords, MAX_PASSAGES, type ReadDocument } from "../../engine/library.ts"
import type { PageQuery } from "../../protocol/requests.ts"
import { insertDocument, updateCollection, updateDocument } from "./document-statements.ts"
import { type Edition, completeEdition, touchEdition, editionStatements } from "./editions.ts"
import type { Engine } from "../engine/engine.ts"
import { newestFirst } from "../engine/newest-first.ts"
import type { Statement } from "../engine/operations.ts"
import { toTime } from "../engine/row-values.ts"

/** The most documents of one person in all collections. */
export const MAX_DOCUMENTS = 100_000
/** Documents with at most this many statements are written in one transaction. */
const MAX_STATEMENTS = 4
/** How often a write is retried when concurrent writers of the same file win. */
const MAX_TRIES = 5

interface Row {
  readonly id: DocumentId
  readonly collection: CollectionId
  readonly source: string
  readonly kind: DocumentKind
  readonly title: string
  readonly authors: string
  readonly day: number | null
  readonly hash: string
  readonly edition: EditionId | ""
  readonly reason: string | null
  readonly characters: number
  readonly passages: number
  readonly created_at: number
  readonly updated_at: number
  readonly embedded: number | null
}

type Failed = Parameters<LibraryRecords["fail"]>[2]

/** The documents of collections. */
export class SqlDocuments {
  readonly #engine: Engine
  readonly #embedder: string
  readonly #now: () => number

  constructor(engine: Engine, embedder: string, now: () => number) {
    this.#engine = engine
    this.#embedder = embedder
    this.#now = now
  }

  list(user: UserId, collection: CollectionId, page: PageQuery): Promise<Page<DocumentView>> {
    return newestFirst<Row, DocumentView>(this.#engine, page, {
      select: `${SELECT} WHERE x.person = ? AND x.collection = ?`,
      values: [this.#embedder, user, collection],
      toItem: toDocumentView,
      long: ["x.title", "x.authors", "x.source", "x.reason"],
    })
  }

  async find(user: UserId, id: DocumentId): Promise<DocumentView | undefined> {
    const sql = `${SELECT} WHERE x.id = ? AND x.person = ?`
    const [row] = await this.#engine.query<Row>(sql, [this.#embedder, id, user])
    return row && toDocumentView(row)
  }

  async named(user: UserId, collection: CollectionId, source: string): Promise<Row | undefined> {
    const sql = `${SELECT} WHERE x.collection = ? AND x.source = ? AND x.person = ?`
    return (await this.#engine.query<Row>(sql, [this.#embedder, collection, source, user]))[0]
  }

  /** `gone`: an edition that was deleted while it was read. */
  async read(
    user: UserId,
    id: DocumentId,
    { start, length }: TextQuery,
    gone?: string,
  ): Promise<TextWindow | undefined> {
    const found = "SELECT edition, characters FROM document WHERE id = ? AND person = ?"
    const [row] = await this.#engine.query<{ edition: string; characters: number }>(found, [id, user])
    if (!row) return undefined
    const from = `SELECT coalesce(max(start_at), 0) FROM document_text WHERE person = ? AND edition = ? AND start_at <= ?`
    const sql = `SELECT start_at, text FROM document_text WHERE person = ? AND edition = ? AND start_at >= (${from})
      AND start_at < ? ORDER BY start_at`
    const values = [user, row.edition, user, row.edition, start, start + length]
    const parts = await this.#engine.query<{ start_at: number; text: string }>(sql, values)
    // Another edition has replaced this one, and its text is deleted.
    if (parts.length === 0 && start < Number(row.characters) && row.edition !== gone)
      return this.read(user, id, { start, length }, row.edition)
    const begin = start - Number(parts[0]?.start_at ?? start)
    const text = parts
      .map((part) => part.text)
      .join("")
      .slice(begin, begin + length)
    return { text: text.toWellFormed(), start, characters: Number(row.characters) }
  }

  /** The document with this content, under any name. */
  async same(user: UserId, collection: CollectionId, hash: string): Promise<Row | undefined> {
    const sql = `${SELECT} WHERE x.collection = ? AND x.hash = ? AND x.edition <> '' AND x.person = ? ORDER BY x.created_at, x.id LIMIT 1`
    return (await this.#engine.query<Row>(sql, [this.#embedder, collection, hash, user]))[0]
  }

  async keep(
    user: UserId,
    collection: CollectionId,
    document: ReadDocument,
  ): Promise<{ id: DocumentId; kept: DocumentChange }> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const before = await this.#findPrevious(user, collection, document)
      if (before && hasContent(before, document)) return { id: before.id, kept: "unchanged" }
      const same = await this.same(user, collection, document.hash)
      // Also if the named document has received this content since it was read; it must not be taken for an older one.
      if (same && (!before || before.id === same.id)) return { id: same.id, kept: "unchanged" }
      if (same && before) {
        // No file has the previous content of this name any more.
        await this.remove(user, collection, before.id).catch((error: unknown) => {
          if (!hasCode(error, "not_found")) throw error
        })
        return { id: same.id, kept: "replaced" }
      }
      await this.#demandRoom(user, collection, document.passages.length - (before?.passages ?? 0))
      const id = before?.id ?? newId("doc", user, this.#now())
      const edition = { id: newId("ed", user, this.#now()), person: user, collection, document: id }
      if (await this.#write(edition, document, before)) return { id, kept: before ? "replaced" : "added" }
    }
    throw failure("busy", { id: document.source.slice(0, 100) })
  }

  async #findPrevious(
    user: UserId,
    collection: CollectionId,
    { source, formerly }: ReadDocument,
  ): Promise<Row | undefined> {
    const named = await this.named(user, collection, source)
    return named ?? (formerly === undefined ? undefined : this.named(user, collection, formerly))
  }

  async fail(
    user: UserId,
    collection: CollectionId,
    { source, kind, title, hash, reason }: Failed,
  ): Promise<DocumentId> {
    await this.#demandRoom(user, collection, 0)
    const now = this.#now()
    const sql = `INSERT INTO document (id, person, collection, source, format, title, authors, day, hash, edition, reason,
        characters, passages, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, '[]', NULL, ?, '', ?, 0, 0, ?, ?)
      ON CONFLICT (collection, source) DO NOTHING`
    const values = [newId("doc", user, now), user, collection, source, kind, title, hash, reason, now, now]
    const added = [
      updateCollection(user, collection, { documents: 1, passages: 0, now }),
      { sql, values, mustChange: true },
    ]
    await this.#engine.change({ type: "statements", statements: added })
    // If the document already exists, it gets the newest reason, unless an edition was read before.
    const again =
      "UPDATE document SET hash = ?, reason = ?, updated_at = ? WHERE collection = ? AND source = ? AND edition = ''"
    await this.#engine.change({
      type: "statements",
      statements: [{ sql: again, values: [hash, reason, now, collection, source] }],
    })
    const found = await this.named(user, collection, source)
    if (!found) throw failure("not_found")
    return found.id
  }

  async remove(user: UserId, collection: CollectionId, id: DocumentId): Promise<void> {
    const owned = "FROM document WHERE id = ? AND collection = ? AND person = ?"
    const values = [id, collection, user]
    const statements: Statement[] = [
      {
        // First, as for everyone who changes a collection: afterwards nothing in it changes.
        sql: `UPDATE collection SET documents = documents - 1, passages = passages - (SELECT passages ${owned}), updated_at = ?
          WHERE id = ? AND person = ? AND EXISTS (SELECT 1 ${owned})`,
        values: [...values, this.#now(), collection, user, ...values],
        mustChange: true,
      },
      {
        sql: `INSERT INTO edition (id, person, state, at) SELECT edition, person, 'gone', CAST(? AS BIGINT) ${owned} AND edition <> ''`,
        values: [this.#now(), ...values],
      },
      {
        sql: `DELETE FROM embedding WHERE person = ? AND edition IN (SELECT edition ${owned})`,
        values: [user, ...values],
      },
      { sql: `DELETE ${owned}`, values, mustChange: true },
    ]
    if (!(await this.#engine.change({ type: "statements", statements })).ok) throw failure("not_found")
  }

  async removeAll(user: UserId, collection: CollectionId): Promise<void> {
    const all = "FROM document WHERE collection = ? AND person = ?"
    const values = [collection, user]
    const statements: Statement[] = [
      { sql: "DELETE FROM collection WHERE id = ? AND person = ?", values, mustChange: true },
      {
        sql: `INSERT INTO edition (id, person, state, at) SELECT edition, person, 'gone', CAST(? AS BIGINT) ${all} AND edition <> ''`,
        values: [this.#now(), ...values],
      },
      { sql: "DELETE FROM embedding WHERE collection = ? AND person = ?", values },
      { sql: `DELETE ${all}`, values },
    ]
    const { ok } = await this.#engine.change({ type: "statements", statements, patience: "long" })
    if (!ok) throw failure("not_found")
  }

  async #demandRoom(user: UserId, collection: CollectionId, more: number): Promise<void> {
    const sql = "SELECT id, documents, passages FROM collection WHERE person = ?"
    const rows = await this.#engine.query<{ id: string; documents: number; passages: number }>(sql, [user])
    if (!rows.some(({ id }) => id === collection)) throw failure("not_found")
    const sum = (of: "documents" | "passages") => rows.reduce((all, row) => all + Number(row[of]), 0)
    if (sum("passages") + more > MAX_PASSAGES) throw failure("library_full", { most: MAX_PASSAGES, what: "passages" })
    if (sum("documents") >= MAX_DOCUMENTS) throw failure("library_full", { most: MAX_DOCUMENTS, what: "documents" })
  }

  /**
   * False if a concurrent writer won or the edition was given up. A crash before the last transaction leaves an edition
   * that no document refers to.
   */
  async #write(edition: Edition, document: ReadDocument, before: Row | undefined): Promise<boolean> {
    const { id, person, collection } = edition
    const first = [...editionStatements(edition, document).take(MAX_STATEMENTS + 1)]
    const change = (statements: Statement[]) => this.#engine.change({ type: "statements", statements })
    const inOne = first.length <= MAX_STATEMENTS
    if (!inOne) {
      const sql = "INSERT INTO edition (id, person, state, at) VALUES (?, ?, 'writing', ?)"
      await change([{ sql, values: [id, person, this.#now()] }])
      for (const row of editionStatements(edition, document)) {
        if (!(await change([touchEdition(id, this.#now()), row])).ok) return false
        // SQLite may run sixteen commits without a turn of the event loop.
        await nextTurn()
      }
    }
    const now = this.#now()
    const more = { documents: before ? 0 : 1, passages: document.passages.length - (before?.passages ?? 0), now }
    const { ok } = await change([
      updateCollection(person, collection, more),
      // An edition that took so long that it was deleted does not count.
      ...(inOne ? first : [completeEdition(id)]),
      ...(before ? updateDocument(edition, document, { before, now }) : insertDocument(edition, document, now)),
      {
        sql: `INSERT INTO embedding (person, edition, embedder, collection, document, embedded, passages, at)
          VALUES (?, ?, ?, ?, ?, 0, ?, ?)`,
        values: [person, id, this.#embedder, collection, edition.document, document.passages.length, now],
      },
    ])
    return ok
  }
}

const SELECT = `SELECT x.id, x.collection, x.source, x.format AS kind, x.title, x.authors, x.day, x.hash, x.edition, x.reason,
  x.characters, x.passages, x.created_at, x.updated_at, e.embedded FROM document x
  LEFT JOIN embedding e ON e.person = x.person AND e.edition = x.edition AND e.embedder = ?`

const hasContent = (row: Row, { hash }: Pick<ReadDocument, "hash">) => row.hash === hash && row.edition !== ""

export function toDocumentView(row: Row): DocumentView {
  const { id, collection, title, source, authors, day, kind, hash, reason, characters, passages } = row
  const embedded = Number(row.embedded ?? 0)
  return {
    ...{ id, collectionId: collection, title, source, authors: JSON.parse(authors) as string[] },
    ...{ date: fromDay(day), kind, hash },
    status: row.edition === "" ? "failed" : embedded < passages ? "ingesting" : "ready",
    ...{ reason, characters, passages, embedded },
    ...{ createdAt: toTime(row.created_at), updatedAt: toTime(row.updated_at) },
  }
}
