import type { UserId } from "../../protocol/ids.ts"
import type { Applied, NoteMatch, Vector } from "../../protocol/workspace.ts"
import { fromText, rank, toBase64, toUnit } from "../../shared/vectors/unit.ts"
import { inPortions, type WorkspaceStatement } from "../../workspace/layout.ts"
import { EmbeddingClaims } from "../library/embedding-claims.ts"
import type { Engine } from "../engine/engine.ts"
import { changesOf } from "./workspaces.ts"
import type { NoteVectors } from "./workspace-context.ts"
import { NoteIndexes, type NoteIndexOptions } from "./note-indexes.ts"

export interface IndexedNote {
  readonly id: string
  readonly person: UserId
  readonly title: string
  readonly content: string
  readonly updatedAt: number
  /** The hash of the text that this embedder has embedded, if any. */
  readonly hash: string | null
}

/** A note as it was read, with its vector. */
export interface EmbeddedNote extends Pick<IndexedNote, "id" | "person" | "title" | "content"> {
  readonly hash: string
  readonly vector: Float32Array
}

/** Rows per sweep, which starts over each time. */
const SWEEP_ROWS = 2000
/** Extra candidates from the index: its order is approximate, and some rows may be deleted. */
const EXTRA = 30
const DAY = 24 * 60 * 60_000
const TABLE = {
  ...{ name: "note_vector", key: "note", keyHasPerson: false, waits: "note_updated_at = -1" },
  // As in the index: any other order would sort all waiting notes.
  ...{ order: "at DESC", columns: "note" },
}

/** The vectors of notes. */
export class SqlNoteVectors implements NoteVectors {
  readonly #engine: Engine
  readonly #embedder: string
  readonly #now: () => number
  readonly indexes: NoteIndexes
  readonly #claims: EmbeddingClaims<{ readonly note: string }>
  /** Resolves when the person's notes are indexed, or after a while. Set by the indexer. */
  caughtUp: (person: UserId) => Promise<void> = async () => {}

  constructor(engine: Engine, embedder: string, options: NoteIndexOptions) {
    this.#engine = engine
    this.#embedder = embedder
    this.#now = () => options.clock.now()
    this.indexes = new NoteIndexes(engine, embedder, options)
    this.#claims = new EmbeddingClaims(engine, TABLE, { embedder, now: this.#now })
  }

  /** For callers without the complete note. Ignored if the note has changed. */
  async upsert(person: UserId, note: { id: string; content: string }, vector: Vector): Promise<void> {
    const sql = "SELECT title FROM note WHERE id = ? AND person = ? AND content = ?"
    const [row] = await this.#engine.query<{ title: string }>(sql, [note.id, person, note.content])
    if (!row) return
    const about = { id: note.id, person, title: row.title, content: note.content, hash: "" }
    await this.keep([{ ...about, vector: Float32Array.from(vector.numbers) }], vector.embedder)
  }

  /** Stores vectors in one commit, except for notes that were changed since they were read. */
  async keep(notes: readonly EmbeddedNote[], embedder = this.#embedder): Promise<void> {
    // In the order of people, so that two nodes cannot deadlock.
    const ordered = [...notes].sort((a, b) => (a.person < b.person ? -1 : Number(a.person > b.person)))
    const statements = ordered.flatMap(({ id, person, title, content, hash, vector }): WorkspaceStatement[] => [
      // A version per vector, so that incremental readers miss none.
      { sql: "UPDATE workspace SET vectors = vectors + 1 WHERE person = ?", values: [person] },
      {
        // Compares the content, because two writes may share a millisecond.
        sql: `INSERT INTO note_vector (note, embedder, person, hash, note_updated_at, version, at, vector)
          SELECT note.id, ?, note.person, ?, note.updated_at, workspace.vectors, ?, ?
          FROM note JOIN workspace ON workspace.person = note.person
          WHERE note.id = ? AND note.person = ? AND note.title = ? AND note.content = ?
          ON CONFLICT (note, embedder) DO UPDATE SET hash = excluded.hash, version = excluded.version, at = excluded.at,
            note_updated_at = excluded.note_updated_at, vector = excluded.vector`,
        values: [embedder, hash, this.#now(), toBase64(toUnit(vector)), id, person, title, content],
      },
    ])
    if (statements.length > 0) await this.#engine.change({ type: "statements", statements })
  }

  /** The note was written without a change of its text, so its vector is still valid. */
  async confirm({ id, person, title, content }: IndexedNote): Promise<void> {
    // Locks the row that writers of notes lock, so that the next statement sees their changes.
    const lock = { sql: "UPDATE workspace SET vectors = vectors WHERE person = ?", values: [person] }
    const sql = `UPDATE note_vector SET note_updated_at = (SELECT updated_at FROM note WHERE note.id = note_vector.note)
      WHERE note = ? AND embedder = ? AND EXISTS (SELECT 1 FROM note WHERE id = ? AND title = ? AND content = ?)`
    const values = [id, this.#embedder, id, title, content]
    await this.#engine.change({ type: "statements", statements: [lock, { sql, values }] })
  }

  /** Statements for the transaction of a write: deleted notes lose their vectors, written notes wait for new ones. */
  follow(person: UserId, applied: Applied): readonly WorkspaceStatement[] {
    const notes = changesOf(applied).filter(({ table }) => table === "notes")
    const some = (gone: boolean) => inPortions(notes.filter(({ row }) => (row === null) === gone).map(({ id }) => id))
    const among = (ids: readonly string[]) => `note IN (${ids.map(() => "?").join(", ")})`
    return [
      ...some(true).map((ids) => ({
        sql: `DELETE FROM note_vector WHERE person = ? AND ${among(ids)}`,
        values: [person, ...ids],
      })),
      ...some(false).flatMap((ids) => [
        {
          // A vector that is being computed for the previous text is not stored.
          sql: `UPDATE note_vector SET note_updated_at = -1, at = ?, claimed_by = NULL, claimed_until = 0
            WHERE person = ? AND ${among(ids)}`,
          values: [this.#now(), person, ...ids],
        },
        {
          sql: `INSERT INTO note_vector (note, embedder, person, hash, note_updated_at, version, at, vector)
            SELECT id, ?, person, '', -1, 0, ?, '' FROM note WHERE person = ? AND id IN (${ids.map(() => "?").join(", ")})
            ON CONFLICT (note, embedder) DO NOTHING`,
          values: [this.#embedder, this.#now(), person, ...ids],
        },
      ]),
    ]
  }

  /**
   * Finds notes that should wait but do not: they have no vector of this embedder, or one from before they were
   * written. Some at a time; true if none are left.
   */
  async sweep(): Promise<boolean> {
    const missing = `SELECT id, ?, person, '', -1, 0, ?, '' FROM note WHERE NOT EXISTS
      (SELECT 1 FROM note_vector WHERE note_vector.note = note.id AND embedder = ?) LIMIT ?`
    const outcome = await this.#engine.change({
      type: "statements",
      statements: [
        {
          sql: `INSERT INTO note_vector (note, embedder, person, hash, note_updated_at, version, at, vector) ${missing}
            ON CONFLICT (note, embedder) DO NOTHING RETURNING note`,
          values: [this.#embedder, this.#now(), this.#embedder, SWEEP_ROWS],
        },
      ],
    })
    if (outcome.ok && (outcome.rows[0]?.length ?? 0) === SWEEP_ROWS) return false
    const sql = `UPDATE note_vector SET note_updated_at = -1, at = ? WHERE embedder = ? AND note_updated_at <> -1 AND EXISTS
      (SELECT 1 FROM note WHERE note.id = note_vector.note AND note.updated_at <> note_vector.note_updated_at)`
    await this.#engine.change({ type: "statements", statements: [{ sql, values: [this.#now(), this.#embedder] }] })
    return true
  }

  async nearest(
    person: UserId,
    vector: Vector,
    { limit, projectId }: { limit: number; projectId?: string | null },
  ): Promise<NoteMatch[]> {
    if (vector.embedder !== this.#embedder) return []
    await this.caughtUp(person)
    const query = toUnit(vector.numbers)
    const kept = await this.indexes.current(person, query.length)
    const among = projectId == null ? undefined : await this.#notesIn(person, projectId)
    for (;;) {
      const found = kept.index.nearest(query, limit + EXTRA, among).map(({ id }) => id)
      const rows = await this.#read(person, found)
      const there = new Set(rows.map(({ id }) => id))
      const gone = found.filter((id) => !there.has(id))
      for (const id of gone) kept.index.delete(id)
      // Only if more notes were deleted than there were extra candidates.
      if (gone.length > 0 && rows.length < limit && found.length === limit + EXTRA) continue
      return rank(query, rows, limit).map(({ id, content, score }) => ({ id, content, score }))
    }
  }

  /** People with unclaimed notes, the longest waiting first. */
  async waitingPeople(): Promise<UserId[]> {
    return (await this.#claims.people()).flatMap(({ person, isFree }) => (isFree ? [person] : []))
  }

  isAtWork(person: UserId): Promise<boolean> {
    return this.#claims.isAtWork(person)
  }

  releaseStale(): Promise<void> {
    return this.#claims.releaseStale()
  }

  /** Claims waiting notes of a person, the newest first. */
  async claim(person: UserId, limit: number): Promise<IndexedNote[]> {
    const claimed = (await this.#claims.claim(person, limit)).map(({ note }) => note)
    const among = claimed.map(() => "?").join(", ")
    // CROSS JOIN fixes the order for SQLite, which would otherwise scan all notes of the person.
    const sql = `SELECT note.id, note.person, title, content, updated_at, hash
      FROM note_vector CROSS JOIN note
      WHERE note.id = note_vector.note AND note_vector.note IN (${among}) AND embedder = ? AND note.person = ?
      ORDER BY at DESC`
    if (claimed.length === 0) return []
    const values = [...claimed, this.#embedder, person]
    const rows = await this.#engine.query<Omit<IndexedNote, "updatedAt"> & { updated_at: number }>(sql, values)
    const there = new Set(rows.map(({ id }) => id))
    await this.#drop(claimed.filter((id) => !there.has(id)))
    return rows.map(({ updated_at, ...note }) => ({ ...note, updatedAt: Number(updated_at) }))
  }

  release(person: UserId, notes: readonly string[], until?: number): Promise<void> {
    return this.#claims.release(person, notes, until)
  }

  /** Removes rows of deleted notes, which would wait forever. */
  async #drop(notes: readonly string[]): Promise<void> {
    const sql = "DELETE FROM note_vector WHERE note = ? AND NOT EXISTS (SELECT 1 FROM note WHERE id = ?)"
    const statements = notes.map((id) => ({ sql, values: [id, id] }))
    if (statements.length > 0) await this.#engine.change({ type: "statements", statements })
  }

  async isWaiting(person: UserId): Promise<boolean> {
    const sql = `SELECT 1 FROM note_vector WHERE ${WAITS} AND person = ? LIMIT 1`
    return (await this.#engine.query(sql, [this.#embedder, person])).length > 0
  }

  /** How many of a person's notes wait, and how many there are. */
  async progress(person: UserId): Promise<{ waiting: number; all: number }> {
    if (!(await this.isWaiting(person))) return { waiting: 0, all: 0 }
    const sql = `SELECT (SELECT COUNT(*) FROM note_vector WHERE ${WAITS} AND person = ?) AS waiting,
      (SELECT COUNT(*) FROM note WHERE person = ?) AS total`
    const [row] = await this.#engine.query<{ waiting: number; total: number }>(sql, [this.#embedder, person, person])
    return { waiting: Number(row?.waiting ?? 0), all: Number(row?.total ?? 0) }
  }

  /** Deletes vectors of previous embedders, except those that another node may still use. */
  async deleteOtherEmbedders(): Promise<void> {
    const sql = "DELETE FROM note_vector WHERE embedder <> ? AND at < ?"
    const values = [this.#embedder, this.#now() - DAY]
    await this.#engine.change({ type: "statements", statements: [{ sql, values }] })
  }

  async #notesIn(person: UserId, projectId: string): Promise<string[]> {
    const sql = "SELECT id FROM note WHERE person = ? AND project_id = ?"
    return (await this.#engine.query<{ id: string }>(sql, [person, projectId])).map(({ id }) => id)
  }

  async #read(person: UserId, ids: readonly string[]) {
    const rows = await Promise.all(
      inPortions(ids).map((some) => {
        // The person is a condition on the note only, in this order: otherwise SQLite scans all notes of the person.
        const sql = `SELECT note.id, content, vector FROM note_vector CROSS JOIN note WHERE note.id = note_vector.note
          AND note_vector.note IN (${some.map(() => "?").join(", ")}) AND embedder = ? AND note.person = ?`
        const values = [...some, this.#embedder, person]
        return this.#engine.query<{ id: string; content: string; vector: string }>(sql, values)
      }),
    )
    return rows.flat().map(({ vector, ...row }) => ({ ...row, vector: fromText(vector) }))
  }
}

/** The condition of the partial index, word for word: otherwise it would not be used. */
const WAITS = `embedder = ? AND ${TABLE.waits}`
