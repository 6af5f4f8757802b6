import { randomBytes } from "node:crypto"
import type { Log } from "../../shared/log.ts"
import { hasCode } from "../../protocol/errors.ts"
import type { FileId, UserId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"
import type { Statement } from "../engine/operations.ts"
import { type ByteStore, unreadable } from "./byte-store.ts"

/** Larger files go to the folder, if one is configured. */
export const MAX_IN_ROWS = 1024 * 1024
const AT_ONCE = 200
const DAY_MS = 24 * 60 * 60_000

export interface FolderFilesOptions {
  /** Undefined if no folder is configured: existing files in it are then neither read nor removed. */
  readonly place?: ByteStore | undefined
  readonly now: () => number
  readonly log?: Log | undefined
}

interface FolderFileRow {
  readonly place: string
  readonly sha256: string
  readonly size: number
}

/**
 * Which attached files are in the folder, and under which name. A row is written before the first byte and deleted
 * after the bytes are removed, so after a failure it says what is left to do, and any node does it.
 */
export class FolderFiles {
  readonly #engine: Engine
  readonly #place: ByteStore | undefined
  readonly #now: () => number
  readonly #log: Log | undefined
  #listedAt = -Infinity

  constructor(engine: Engine, { place, now, log }: FolderFilesOptions) {
    this.#engine = engine
    this.#place = place
    this.#now = now
    this.#log = log
  }

  get isNamed(): boolean {
    return this.#place !== undefined
  }

  /** The name for a new file of this size; undefined if it is stored in rows. Used once. */
  nameFor(size: number): string | undefined {
    // Random: a name made from the content would reveal who has the same file, and a new upload could be deleted with
    // the old one. The row ensures that content is stored once.
    return this.#place && size > MAX_IN_ROWS ? randomBytes(16).toString("hex") : undefined
  }

  /** Part of the change that creates the file's row. */
  claim(user: UserId, file: FileId, name: string): Statement {
    return { sql: "INSERT INTO file_place (place, file, person) VALUES (?, ?, ?)", values: [name, file, user] }
  }

  async write(name: string, bytes: Uint8Array): Promise<void> {
    await this.#place?.write(name, bytes)
  }

  /** Reads a file that is not in rows. Empty if it was deleted. */
  async *read(user: UserId, file: FileId, most?: number): AsyncGenerator<Uint8Array> {
    const row = await this.#find(user, file)
    if (!row) return
    if (!this.#place) throw unreadable(NOT_CONFIGURED)
    try {
      yield* this.#place.read(row.place, row, most)
    } catch (error) {
      if (hasCode(error, "file_unreadable") && !(await this.#find(user, file))) return
      throw error
    }
  }

  /** Removes the bytes of deleted files, of one person or of all. A sweep repeats what fails. */
  async removeGone(user?: UserId): Promise<void> {
    const sql = `SELECT place FROM file_place WHERE ${user ? "person = ? AND" : ""}
      NOT EXISTS (SELECT 1 FROM message_file WHERE message_file.id = file_place.file) LIMIT ?`
    for (;;) {
      const rows = await this.#engine.query<{ place: string }>(sql, [...(user ? [user] : []), AT_ONCE])
      if (rows.length === 0) return
      if (!this.#place) return this.#log?.warn("bytes_not_removed", { files: rows.length, problem: NOT_CONFIGURED })
      const names = rows.map(({ place }) => place)
      await this.#place.remove(names)
      await this.#forget(names)
      if (rows.length < AT_ONCE) return
    }
  }

  /** The same after a completed operation, which must not be reported as failed. */
  async removeGoneOrLater(user: UserId): Promise<void> {
    await this.removeGone(user).catch((error: unknown) => this.#log?.warn("bytes_not_removed", { user, error }))
  }

  /** After a failed write: a sweep may have deleted its row, and no other process knows its name. */
  async discard(file: FileId, name: string): Promise<void> {
    const rows = await this.#engine.query("SELECT id FROM message_file WHERE id = ?", [file])
    if (rows.length > 0) return
    await this.#place?.remove([name])
    await this.#forget([name])
  }

  async sweep(): Promise<void> {
    await this.removeGone()
    if (!this.#place || this.#now() - this.#listedAt < DAY_MS) return
    await this.#removeUnreferenced(this.#place)
    this.#listedAt = this.#now()
  }

  /** Whether any file is in the folder. */
  async areAny(): Promise<boolean> {
    return (await this.#engine.query("SELECT place FROM file_place LIMIT 1", [])).length > 0
  }

  /** How much is in the folder, and how many deleted files still have bytes there. */
  async count(): Promise<{ files: number; bytes: number; toRemove: number }> {
    const sql = `SELECT count(f.id) AS files, CAST(coalesce(sum(f.size), 0) AS BIGINT) AS bytes, count(*) AS places
      FROM file_place p LEFT JOIN message_file f ON f.id = p.file`
    const [row] = await this.#engine.query<{ files: number; bytes: number; places: number }>(sql, [])
    const [files, bytes, places] = [Number(row?.files), Number(row?.bytes), Number(row?.places)]
    return { files, bytes, toRemove: places - files }
  }

  /** How many files have lost their bytes. Checks names only. */
  async countLost(): Promise<number> {
    const there = new Set<string>()
    for await (const { name } of this.#place?.list() ?? []) there.add(name)
    const sql = "SELECT place FROM file_place p JOIN message_file f ON f.id = p.file WHERE f.hash IS NOT NULL"
    const rows = await this.#engine.query<{ place: string }>(sql, [])
    return rows.filter(({ place }) => !there.has(place)).length
  }

  /** Removes files without a row: a process was suspended during a write, its row was swept, and then it failed. */
  async #removeUnreferenced(place: ByteStore): Promise<void> {
    let names: string[] = []
    const removeUnreferenced = async () => {
      // The names are listed before their rows are read. A writer creates the row first, so a file without a row is
      // unused.
      const sql = `SELECT place FROM file_place WHERE place IN (${names.map(() => "?").join(", ")})`
      const known = new Set((await this.#engine.query<{ place: string }>(sql, names)).map((row) => row.place))
      await place.remove(names.filter((name) => !known.has(name)))
      names = []
    }
    for await (const { name, writtenAt } of place.list()) {
      // Only older files: if yesterday's database is started by mistake, today's files must survive.
      if (this.#now() - writtenAt < DAY_MS) continue
      if (names.push(name) === AT_ONCE) await removeUnreferenced()
    }
    if (names.length > 0) await removeUnreferenced()
  }

  async #find(user: UserId, file: FileId): Promise<FolderFileRow | undefined> {
    const sql = `SELECT p.place, f.hash AS sha256, f.size FROM file_place p JOIN message_file f ON f.id = p.file
      WHERE p.file = ? AND f.person = ? AND f.hash IS NOT NULL`
    return (await this.#engine.query<FolderFileRow>(sql, [file, user]))[0]
  }

  async #forget(names: readonly string[]): Promise<void> {
    const statements = names.map((name) => ({ sql: "DELETE FROM file_place WHERE place = ?", values: [name] }))
    await this.#engine.change({ type: "statements", statements })
  }
}

const NOT_CONFIGURED =
  "its content is in a folder that this server does not use. The operator must set PAWL_FILES_FOLDER to that folder"
