import { randomBytes } from "node:crypto"
import type { Log } from "../../shared/log.ts"
import { hasCode } from "../../protocol/errors.ts"
import type { FileId, UserId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"
import type { Statement } from "../engine/operations.ts"
import { type BytesPlace, unreadable } from "./bytes-place.ts"

/** Files of more bytes lie beside the database, where there is a place for them. */
export const MAX_IN_ROWS = 1024 * 1024
const AT_ONCE = 200
const DAY_MS = 24 * 60 * 60_000

export interface PlacedFilesOptions {
  /** None where nobody has named one: what lies in it is then neither read nor removed. */
  readonly place?: BytesPlace | undefined
  readonly now: () => number
  readonly log?: Log | undefined
}

interface PlacedRow {
  readonly place: string
  readonly sha256: string
  readonly size: number
}

/**
 * Which files of messages lie beside the database, and where. The row comes first and goes last: with its file, before any
 * byte is written; after its bytes, which are removed once the file is gone. So whatever dies in between, the row says
 * what is left to do, and any node does it.
 */
export class PlacedFiles {
  readonly #engine: Engine
  readonly #place: BytesPlace | undefined
  readonly #now: () => number
  readonly #log: Log | undefined
  #listedAt = -Infinity

  constructor(engine: Engine, { place, now, log }: PlacedFilesOptions) {
    this.#engine = engine
    this.#place = place
    this.#now = now
    this.#log = log
  }

  get isNamed(): boolean {
    return this.#place !== undefined
  }

  /** The name for a new file of this size; undefined where it is kept in rows. A name is used once. */
  nameFor(size: number): string | undefined {
    // By chance: a name made of the content would tell who has the same, and one who uploads it again could lose it to whoever is
    // just erasing it. That it is kept once is seen to by the row.
    return this.#place && size > MAX_IN_ROWS ? randomBytes(16).toString("hex") : undefined
  }

  /** Part of the change that makes the file's row. */
  claim(user: UserId, file: FileId, name: string): Statement {
    return { sql: "INSERT INTO file_place (place, file, person) VALUES (?, ?, ?)", values: [name, file, user] }
  }

  async write(name: string, bytes: Uint8Array): Promise<void> {
    await this.#place?.write(name, bytes)
  }

  /** Of a file that is in no rows. Nothing where it is gone, or goes meanwhile. */
  async *read(user: UserId, file: FileId, most?: number): AsyncGenerator<Uint8Array> {
    const row = await this.#find(user, file)
    if (!row) return
    if (!this.#place) throw unreadable(NOT_NAMED)
    try {
      yield* this.#place.read(row.place, row, most)
    } catch (error) {
      if (hasCode(error, "file_unreadable") && !(await this.#find(user, file))) return
      throw error
    }
  }

  /** Removes the bytes of files that are gone: of one person, or of all. What it cannot do now is done by a sweep. */
  async removeGone(user?: UserId): Promise<void> {
    const sql = `SELECT place FROM file_place WHERE ${user ? "person = ? AND" : ""}
      NOT EXISTS (SELECT 1 FROM message_file WHERE message_file.id = file_place.file) LIMIT ?`
    for (;;) {
      const rows = await this.#engine.query<{ place: string }>(sql, [...(user ? [user] : []), AT_ONCE])
      if (rows.length === 0) return
      if (!this.#place) return this.#log?.warn("bytes_not_removed", { files: rows.length, problem: NOT_NAMED })
      const names = rows.map(({ place }) => place)
      await this.#place.remove(names)
      await this.#forget(names)
      if (rows.length < AT_ONCE) return
    }
  }

  /** The same for who has done what was asked already, and must not be told that it failed. */
  async removeGoneOrLater(user: UserId): Promise<void> {
    await this.removeGone(user).catch((error: unknown) => this.#log?.warn("bytes_not_removed", { user, error }))
  }

  /** After a write that came to nothing: a sweep may have taken its row before, and nobody else knows the name any more. */
  async discard(file: FileId, name: string): Promise<void> {
    const rows = await this.#engine.query("SELECT id FROM message_file WHERE id = ?", [file])
    if (rows.length > 0) return
    await this.#place?.remove([name])
    await this.#forget([name])
  }

  async sweep(): Promise<void> {
    await this.removeGone()
    if (!this.#place || this.#now() - this.#listedAt < DAY_MS) return
    await this.#removeUnknown(this.#place)
    this.#listedAt = this.#now()
  }

  /** Whether anything lies beside the database. */
  async areAny(): Promise<boolean> {
    return (await this.#engine.query("SELECT place FROM file_place LIMIT 1", [])).length > 0
  }

  /** How much lies beside the database, and of how many files that are gone the bytes are still there. */
  async count(): Promise<{ files: number; bytes: number; toRemove: number }> {
    const sql = `SELECT count(f.id) AS files, CAST(coalesce(sum(f.size), 0) AS BIGINT) AS bytes, count(*) AS places
      FROM file_place p LEFT JOIN message_file f ON f.id = p.file`
    const [row] = await this.#engine.query<{ files: number; bytes: number; places: number }>(sql, [])
    const [files, bytes, places] = [Number(row?.files), Number(row?.bytes), Number(row?.places)]
    return { files, bytes, toRemove: places - files }
  }

  /** How many files have lost their bytes: whether they are there, not what they are. */
  async countLost(): Promise<number> {
    const there = new Set<string>()
    for await (const { name } of this.#place?.list() ?? []) there.add(name)
    const sql = "SELECT place FROM file_place p JOIN message_file f ON f.id = p.file WHERE f.hash IS NOT NULL"
    const rows = await this.#engine.query<{ place: string }>(sql, [])
    return rows.filter(({ place }) => !there.has(place)).length
  }

  /** What nobody has a row for: of a write whose row was swept up while its process stood still, and which then died. */
  async #removeUnknown(place: BytesPlace): Promise<void> {
    let names: string[] = []
    const judge = async () => {
      // Seen before their rows are asked for: who writes has made the row first, so that a file without one is nobody's.
      const sql = `SELECT place FROM file_place WHERE place IN (${names.map(() => "?").join(", ")})`
      const known = new Set((await this.#engine.query<{ place: string }>(sql, names)).map((row) => row.place))
      await place.remove(names.filter((name) => !known.has(name)))
      names = []
    }
    for await (const { name, writtenAt } of place.list()) {
      // Of another day: whoever starts the database of yesterday by mistake has not lost today's files by that.
      if (this.#now() - writtenAt < DAY_MS) continue
      if (names.push(name) === AT_ONCE) await judge()
    }
    if (names.length > 0) await judge()
  }

  async #find(user: UserId, file: FileId): Promise<PlacedRow | undefined> {
    const sql = `SELECT p.place, f.hash AS sha256, f.size FROM file_place p JOIN message_file f ON f.id = p.file
      WHERE p.file = ? AND f.person = ? AND f.hash IS NOT NULL`
    return (await this.#engine.query<PlacedRow>(sql, [file, user]))[0]
  }

  async #forget(names: readonly string[]): Promise<void> {
    const statements = names.map((name) => ({ sql: "DELETE FROM file_place WHERE place = ?", values: [name] }))
    await this.#engine.change({ type: "statements", statements })
  }
}

const NOT_NAMED =
  "its content is in a folder that this server does not use. The operator must set PAWL_FILES_FOLDER to that folder"
