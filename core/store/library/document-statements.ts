import type { CollectionId, EditionId, UserId } from "../../protocol/ids.ts"
import { toDayNumber } from "../../protocol/library.ts"
import type { ReadDocument } from "../../engine/library.ts"
import type { Edition } from "./editions.ts"
import type { Statement } from "../engine/operations.ts"

/** The previous row of a document. */
interface PreviousDocument {
  readonly edition: EditionId | ""
}

interface CollectionChange {
  readonly documents: number
  readonly passages: number
  readonly now: number
}

/**
 * No other document has this content. Checked after the collection's row is locked, where concurrent writers of the
 * same content wait.
 */
const HAS_NO_DUPLICATE =
  "NOT EXISTS (SELECT 1 FROM document same WHERE same.collection = ? AND same.hash = ? AND same.edition <> '')"

/** Everyone who changes a collection locks its row first, before any other row. */
export function updateCollection(
  person: UserId,
  collection: CollectionId,
  { documents, passages, now }: CollectionChange,
): Statement {
  const sql = `UPDATE collection SET documents = documents + ?, passages = passages + ?, updated_at = ?
    WHERE id = ? AND person = ?`
  return { sql, values: [documents, passages, now, collection, person], mustChange: true }
}

export function insertDocument(
  { id, person, collection, document }: Edition,
  read: ReadDocument,
  now: number,
): Statement[] {
  const sql = `INSERT INTO document (id, person, collection, source, format, title, authors, day, hash, edition, reason,
      characters, passages, created_at, updated_at) SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE ${HAS_NO_DUPLICATE}
    ON CONFLICT (collection, source) DO NOTHING`
  const values = [document, person, collection, ...columnsOf(read, id).flat(), now, now, collection, read.hash]
  return [{ sql, values, mustChange: true }]
}

export function updateDocument(
  { id, person, collection, document }: Edition,
  read: ReadDocument,
  { before, now }: { before: PreviousDocument; now: number },
) {
  const [source, kind, title, authors, day, hash, edition, reason, characters, passages] = columnsOf(read, id)
  const sql = `UPDATE document SET source = ?, format = ?, title = ?, authors = ?, day = ?, hash = ?, edition = ?, reason = ?,
      characters = ?, passages = ?, updated_at = ? WHERE id = ? AND person = ? AND edition = ? AND ${HAS_NO_DUPLICATE}`
  const values = [
    source,
    kind,
    title,
    authors,
    day,
    hash,
    edition,
    reason,
    characters,
    passages,
    now,
    document,
    person,
    before.edition,
    collection,
    hash,
  ]
  if (before.edition === "") return [{ sql, values, mustChange: true }]
  return [
    { sql, values, mustChange: true },
    {
      sql: "INSERT INTO edition (id, person, state, at) VALUES (?, ?, 'gone', ?)",
      values: [before.edition, person, now],
    },
    { sql: "DELETE FROM embedding WHERE person = ? AND edition = ?", values: [person, before.edition] },
  ]
}

function columnsOf(read: ReadDocument, edition: EditionId) {
  const { source, kind, title, authors, date, hash, text, passages, remark = null } = read
  const day = date === null ? null : toDayNumber(date)
  return [source, kind, title, JSON.stringify(authors), day, hash, edition, remark, text.length, passages.length]
}
