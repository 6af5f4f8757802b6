import { failure } from "../../protocol/errors.ts"
import type { MessageFile, UploadedFile } from "../../protocol/conversation/message.ts"
import { type ConversationId, type FileId, newId, type UserId } from "../../protocol/ids.ts"
import type { FilePage, FileText, FileUse, MessageFiles, NewMessageFile } from "../../engine/stored-files.ts"
import { mendText } from "../../shared/text/text.ts"
import type { Engine } from "../engine/engine.ts"
import type { Statement } from "../engine/operations.ts"
import type { FolderFiles } from "./folder-files.ts"
import { sweepMessageFiles, UNUSED_MS } from "./sweep-message-files.ts"

/** Bytes per row, so that other commits wait only this long. */
const PART = 1024 * 1024
/** The same bytes may be uploaded concurrently, and each upload may find the other's incomplete row. */
const TRIES = 3

interface FileRow {
  readonly id: FileId
  readonly hash: string
  readonly name: string
  readonly type: string
  readonly size: number
  readonly width: number | null
  readonly height: number | null
  readonly created_at: number
  readonly unused: number
}

const USED = "EXISTS (SELECT 1 FROM message_file_use WHERE file = message_file.id)"
const ROW = `id, hash, name, type, size, width, height, created_at, CASE WHEN ${USED} THEN 0 ELSE 1 END AS unused`

/** Attached files, a megabyte per row on either engine; large ones in a folder if one is configured. */
export class SqlMessageFiles implements MessageFiles {
  readonly #engine: Engine
  readonly #places: FolderFiles
  readonly #now: () => number

  constructor(engine: Engine, places: FolderFiles, now: () => number) {
    this.#engine = engine
    this.#places = places
    this.#now = now
  }

  async keep(user: UserId, file: NewMessageFile, most: number): Promise<UploadedFile> {
    for (let tries = 1; ; tries++) {
      const known = await this.#findSame(user, file)
      if (known) return known
      if ((await this.#bytesOf(user)) + file.bytes.length > most) throw failure("files_full", { most })
      const name = this.#places.nameFor(file.bytes.length)
      const id = await this.#put(user, file, name)
      try {
        const stored = (await this.#change(complete(user, id, file.sha256))) && (await this.find(user, id))
        if (stored) return stored
      } catch (error) {
        // On PostgreSQL the unique index rejects the slower of two uploads.
        if (tries === TRIES) throw error
      }
      await this.#drop(id, name)
      if (tries === TRIES)
        throw failure("store_unavailable", { problem: "a file was swept up before all of it had come" })
    }
  }

  async find(user: UserId, id: FileId): Promise<UploadedFile | undefined> {
    const sql = `SELECT ${ROW} FROM message_file WHERE id = ? AND person = ? AND hash IS NOT NULL`
    const [row] = await this.#engine.query<FileRow>(sql, [id, user])
    return row && toUploaded(row)
  }

  async list(user: UserId, { limit, order, after }: FilePage): Promise<UploadedFile[]> {
    const [sign, direction] = order === "asc" ? [">", "ASC"] : ["<", "DESC"]
    const beyond = after === undefined ? "" : `AND id ${sign} ?`
    const sql = `SELECT ${ROW} FROM message_file WHERE person = ? AND hash IS NOT NULL ${beyond} ORDER BY id ${direction} LIMIT ?`
    const rows = await this.#engine.query<FileRow>(sql, [user, ...(after === undefined ? [] : [after]), limit])
    return rows.map(toUploaded)
  }

  async *read(user: UserId, id: FileId, most = Infinity): AsyncGenerator<Uint8Array> {
    const sql = "SELECT bytes FROM message_file_part WHERE file = ? AND number = ? AND person = ?"
    for (let number = 0, left = most; left > 0; number++) {
      const [row] = await this.#engine.query<{ bytes: Uint8Array }>(sql, [id, number, user])
      if (!row && number === 0) yield* this.#places.read(user, id, most)
      if (!row) return
      yield left < row.bytes.length ? row.bytes.subarray(0, left) : row.bytes
      left -= row.bytes.length
    }
  }

  async use(user: UserId, use: FileUse, files: readonly FileId[]): Promise<MessageFile[] | undefined> {
    // In one order, so that two callers cannot deadlock.
    const sorted = [...new Set(files)].sort()
    // Locks each file: a concurrent sweep of unused files waits, and then sees this use.
    const lock = "UPDATE message_file SET size = size WHERE id = ? AND person = ? AND hash IS NOT NULL"
    const statements = sorted.flatMap((id): Statement[] => [
      { sql: lock, values: [id, user], mustChange: true },
      useOf(user, id, use, this.#now()),
    ])
    if (!(await this.#change(...statements))) return undefined
    const found = await Promise.all(files.map((id) => this.find(user, id)))
    const all = found.filter((each) => each !== undefined)
    if (all.length !== files.length) return undefined
    return all.map(({ sha256: _hash, createdAt: _created, expiresAt: _expires, ...file }) => file)
  }

  async shareUses(user: UserId, from: ConversationId, to: ConversationId): Promise<void> {
    const sql = "SELECT DISTINCT file FROM message_file_use WHERE conversation = ? AND person = ?"
    const rows = await this.#engine.query<{ file: FileId }>(sql, [from, user])
    // One by one, so that a deleted file does not affect the others.
    for (const { file } of rows) await this.use(user, { conversation: to }, [file])
  }

  async remove(user: UserId, id: FileId): Promise<boolean> {
    const sql = "DELETE FROM message_file WHERE id = ? AND person = ? AND hash IS NOT NULL"
    const removed = await this.#change({ sql, values: [id, user], mustChange: true }, ...deleteRelatedRows(id), {
      sql: "DELETE FROM message_file_use WHERE file = ?",
      values: [id],
    })
    if (removed) await this.#places.removeGoneOrLater(user)
    return removed
  }

  async readText(user: UserId, id: FileId): Promise<FileText | undefined> {
    const sql = "SELECT text, pages, problem FROM message_file_text WHERE file = ? AND person = ?"
    const [row] = await this.#engine.query<{ text: string; pages: number | null; problem: string | null }>(sql, [
      id,
      user,
    ])
    if (!row) return undefined
    const { text, pages, problem } = row
    return { text, ...(pages === null ? {} : { pages }), ...(problem === null ? {} : { problem }) }
  }

  async keepText(user: UserId, id: FileId, { text, pages, problem }: FileText): Promise<void> {
    const lock = "UPDATE message_file SET size = size WHERE id = ? AND person = ?"
    const sql = `INSERT INTO message_file_text (file, person, text, pages, problem) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (file) DO NOTHING`
    const values = [id, user, mendText(text), pages ?? null, problem === undefined ? null : mendText(problem)]
    await this.#change({ sql: lock, values: [id, user], mustChange: true }, { sql, values })
  }

  async sweep(): Promise<void> {
    await sweepMessageFiles(this.#engine, this.#now())
    await this.#places.sweep()
  }

  /** The same bytes were uploaded before: the new name applies, and the retention period restarts. */
  async #findSame(user: UserId, file: NewMessageFile): Promise<UploadedFile | undefined> {
    const sql = "SELECT id FROM message_file WHERE person = ? AND hash = ?"
    const [row] = await this.#engine.query<{ id: FileId }>(sql, [user, file.sha256])
    if (!row) return undefined
    const named = file.isNamedByProgram ? [] : [file.name, file.type]
    const set = file.isNamedByProgram ? "created_at = ?" : "name = ?, type = ?, created_at = ?"
    const values = [...named, this.#now(), row.id]
    const kept = await this.#change({ sql: `UPDATE message_file SET ${set} WHERE id = ?`, values, mustChange: true })
    return kept ? this.find(user, row.id) : undefined
  }

  async #bytesOf(user: UserId): Promise<number> {
    const sql = "SELECT CAST(coalesce(sum(size), 0) AS BIGINT) AS bytes FROM message_file WHERE person = ?"
    const [row] = await this.#engine.query<{ bytes: number }>(sql, [user])
    return row?.bytes ?? 0
  }

  /** Stores the bytes first, under an invisible row, which a sweep deletes if the upload is interrupted. */
  async #put(user: UserId, file: NewMessageFile, place: string | undefined): Promise<FileId> {
    const { name, type, width, height, bytes } = file
    const now = this.#now()
    const id = newId("file", user, now)
    const row = `INSERT INTO message_file (id, person, hash, name, type, size, width, height, created_at)
      VALUES (?, ?, NULL, ?, ?, ?, ?, ?, ?)`
    const values = [id, user, name, type, bytes.length, width ?? null, height ?? null, now]
    await this.#change({ sql: row, values }, ...(place ? [this.#places.claim(user, id, place)] : []))
    // A part whose connection was lost may arrive after its row was swept: the locked row prevents that.
    const lock = { sql: "UPDATE message_file SET size = size WHERE id = ? AND hash IS NULL", values: [id] }
    const part = "INSERT INTO message_file_part (file, number, person, bytes) VALUES (?, ?, ?, ?)"
    try {
      if (place) await this.#places.write(place, bytes)
      for (let number = 0; !place && number * PART < bytes.length; number++) {
        // A copy, because the writer thread would get the whole underlying buffer.
        const some = bytes.slice(number * PART, (number + 1) * PART)
        await this.#change({ ...lock, mustChange: true }, { sql: part, values: [id, number, user, some] })
      }
    } catch (error) {
      await this.#drop(id, place)
      throw error
    }
    return id
  }

  async #drop(id: FileId, place: string | undefined): Promise<void> {
    const row = { sql: "DELETE FROM message_file WHERE id = ? AND hash IS NULL", values: [id], mustChange: true }
    try {
      await this.#change(row, ...deleteRelatedRows(id))
      if (place) await this.#places.discard(id, place)
    } catch {
      // swept later
    }
  }

  async #change(...statements: Statement[]): Promise<boolean> {
    return (await this.#engine.change({ type: "statements", statements })).ok
  }
}

/** Makes the file visible, unless another file has these bytes or a part is missing. */
function complete(user: UserId, id: FileId, sha256: string): Statement {
  const sql = `UPDATE message_file SET hash = ? WHERE id = ? AND person = ? AND hash IS NULL
    AND (size = (SELECT coalesce(sum(length(bytes)), 0) FROM message_file_part WHERE file = ?)
      OR EXISTS (SELECT 1 FROM file_place WHERE file_place.file = message_file.id))
    AND NOT EXISTS (SELECT 1 FROM message_file other WHERE other.person = ? AND other.hash = ?)`
  return { sql, values: [sha256, id, user, id, user, sha256], mustChange: true }
}

function useOf(user: UserId, id: FileId, { conversation, message = "" as never }: FileUse, now: number): Statement {
  const sql = `INSERT INTO message_file_use (file, conversation, message, person, used_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (file, conversation, message) DO UPDATE SET used_at = excluded.used_at`
  return { sql, values: [id, conversation, message, user, now] }
}

/** Related rows of a file. */
export const deleteRelatedRows = (id: FileId): Statement[] => [
  { sql: "DELETE FROM message_file_part WHERE file = ?", values: [id] },
  { sql: "DELETE FROM message_file_text WHERE file = ?", values: [id] },
]

function toUploaded({ id, hash, name, type, size, width, height, ...row }: FileRow): UploadedFile {
  const pixels = width === null || height === null ? {} : { width, height }
  const createdAt = new Date(row.created_at).toISOString()
  const expiresAt = row.unused ? new Date(row.created_at + UNUSED_MS).toISOString() : null
  return { id, name, type, size, ...pixels, sha256: hash, createdAt, expiresAt }
}
