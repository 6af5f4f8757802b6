import { createHash } from "node:crypto"
import type { CollectionId, DocumentId, EditionId, PassageId, UserId } from "../../protocol/ids.ts"
import type { ReadDocument } from "../../engine/library.ts"
import type { Engine } from "../engine/engine.ts"
import type { Statement } from "../engine/operations.ts"
import { gramsOf } from "../engine/text-grams.ts"

/** Rows of one insert, which is one round trip. */
const AT_ONCE = 64
/** Characters of text per row, and rows per insert. */
const PART_LENGTH = 32_768
const PARTS_AT_ONCE = 8
/** Passages that are deleted in one transaction. */
const PASSAGES_AT_ONCE = 256
/** Editions that are deleted before other work gets its turn. */
const EDITIONS_AT_ONCE = 100
/** If an edition has not changed for this long, its writer has failed. */
const ABANDONED_MS = 60 * 60_000

export interface Edition {
  readonly id: EditionId
  readonly person: UserId
  readonly collection: CollectionId
  readonly document: DocumentId
}

/** The id of a passage consists of its edition and its index. */
export const passageId = (edition: string, ordinal: number) =>
  `psg_${edition.slice("ed_".length)}_${ordinal}` as PassageId

export function parsePassageId(id: PassageId): { edition: EditionId; ordinal: number } | undefined {
  const [, edition, ordinal] = /^psg_([0-9A-Za-z]+)_(\d{1,9})$/.exec(id) ?? []
  return edition && ordinal ? { edition: `ed_${edition}` as EditionId, ordinal: Number(ordinal) } : undefined
}

/**
 * The statements that write an edition, one insert each. They are generated one at a time, because all of a large
 * document at once would delay other requests.
 */
export function* editionStatements(
  edition: Edition,
  { text, passages }: Pick<ReadDocument, "text" | "passages">,
): Generator<Statement> {
  const { id, person, collection, document } = edition
  for (const parts of portions(partsOf(text), PARTS_AT_ONCE))
    yield* inserts(
      "document_text (id, person, edition, start_at, text)",
      parts.map(([start, part]) => [`${id}_${start}`, person, id, start, part]),
    )
  for (const some of portions(passages.entries(), AT_ONCE))
    yield* inserts(
      "passage (person, collection, document, edition, ordinal, heading, start_at, end_at, hash, text, grams)",
      some.map(([ordinal, { headings, start, end }]) => {
        const passageText = text.slice(start, end)
        const hash = createHash("sha256").update(passageText).digest("hex")
        const grams = passageGrams(headings, passageText)
        return [
          person,
          collection,
          document,
          id,
          ordinal,
          JSON.stringify(headings),
          start,
          end,
          hash,
          passageText,
          grams,
        ]
      }),
    )
}

const passageGrams = (headings: readonly string[], text: string) => gramsOf([...headings, text].join("\n")).join(" ")

/**
 * Adds grams to passages from before grams existed, some at a time; true if none are left. Concurrent callers do the
 * same work.
 */
export async function addGrams(engine: Engine): Promise<boolean> {
  const sql = "SELECT key, heading, text FROM passage WHERE grams IS NULL ORDER BY key LIMIT ?"
  const rows = await engine.query<{ key: number; heading: string; text: string }>(sql, [PASSAGES_AT_ONCE])
  const statements = rows.map(({ key, heading, text }) => ({
    sql: "UPDATE passage SET grams = ? WHERE key = ?",
    values: [passageGrams(JSON.parse(heading) as string[], text), key],
  }))
  if (statements.length > 0) await engine.change({ type: "statements", statements })
  return rows.length < PASSAGES_AT_ONCE
}

/**
 * Part of each step that writes an edition, so that an edition in progress is not deleted, and nothing is added to a
 * deleted one.
 */
export const touchEdition = (id: EditionId, now: number): Statement => ({
  sql: "UPDATE edition SET at = ? WHERE id = ? AND state = 'writing'",
  values: [now, id],
  mustChange: true,
})

/** Part of the last step: from then on a document refers to the edition. Fails if it was given up. */
export const completeEdition = (id: EditionId): Statement => ({
  sql: "DELETE FROM edition WHERE id = ? AND state = 'writing'",
  values: [id],
  mustChange: true,
})

/**
 * Deletes editions that no document refers to, and those that a failed process left incomplete. Some at a time; true if
 * there may be more.
 */
export async function deleteEditions(engine: Engine, now: number, signal: AbortSignal): Promise<boolean> {
  const before = now - ABANDONED_MS
  const sql = "SELECT id, person, state FROM edition WHERE state = 'gone' OR at < ? LIMIT ?"
  const editions = await engine.query<UnusedEdition>(sql, [before, EDITIONS_AT_ONCE])
  for (const edition of editions) {
    if (signal.aborted) return false
    if (edition.state === "gone" || (await markGone(engine, edition, before)))
      await deleteEdition(engine, edition, signal)
  }
  return editions.length === EDITIONS_AT_ONCE
}

type UnusedEdition = Pick<Edition, "id" | "person"> & { readonly state: string }

/**
 * A writer that was only slow, for instance on a machine that slept, finds its edition given up. If it has just
 * finished, this fails.
 */
async function markGone(engine: Engine, { id }: UnusedEdition, before: number): Promise<boolean> {
  const sql = "UPDATE edition SET state = 'gone' WHERE id = ? AND (state = 'gone' OR at < ?)"
  const statements = [{ sql, values: [id, before], mustChange: true }]
  return (await engine.change({ type: "statements", statements })).ok
}

async function deleteEdition(engine: Engine, { id, person }: Pick<Edition, "id" | "person">, signal: AbortSignal) {
  const last = "SELECT coalesce(max(ordinal), -1) AS ordinal FROM passage WHERE person = ? AND edition = ?"
  const [row] = await engine.query<{ ordinal: number }>(last, [person, id])
  // Backwards, so that a retry after a crash finds where it stopped.
  for (let from = Number(row?.ordinal ?? -1); from >= 0 && !signal.aborted; from -= PASSAGES_AT_ONCE) {
    const values = [person, id, from - PASSAGES_AT_ONCE]
    await engine.change({
      type: "statements",
      statements: ["passage_vector", "passage"].map((table) => ({
        sql: `DELETE FROM ${table} WHERE person = ? AND edition = ? AND ordinal > ?`,
        values,
      })),
    })
  }
  if (signal.aborted) return
  const rest = ["passage_vector", "document_text", "embedding"].map((table) => ({
    sql: `DELETE FROM ${table} WHERE person = ? AND edition = ?`,
    values: [person, id],
  }))
  const statements = [...rest, { sql: "DELETE FROM edition WHERE id = ?", values: [id] }]
  await engine.change({ type: "statements", statements })
}

/** `row`: the SQL of a row that is not a list of placeholders. */
export function inserts(into: string, rows: readonly (readonly unknown[])[], row?: string): Statement[] {
  const statements: Statement[] = []
  for (let i = 0; i < rows.length; i += AT_ONCE) {
    const some = rows.slice(i, i + AT_ONCE)
    const each = row ?? `(${some[0]!.map(() => "?").join(", ")})`
    statements.push({ sql: `INSERT INTO ${into} VALUES ${some.map(() => each).join(", ")}`, values: some.flat() })
  }
  return statements
}

/** Splits a text. No part ends inside a surrogate pair, which could not be stored. */
function* partsOf(text: string): Generator<[start: number, part: string]> {
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + PART_LENGTH, text.length)
    if (end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1]!)) end--
    yield [start, text.slice(start, end)]
    start = end
  }
}

function* portions<T>(all: Iterable<T>, most: number): Generator<T[]> {
  let some: T[] = []
  for (const each of all) {
    some.push(each)
    if (some.length < most) continue
    yield some
    some = []
  }
  if (some.length > 0) yield some
}
