import { createHash, randomBytes } from "node:crypto"
import { open } from "node:fs/promises"
import { failure } from "../../protocol/errors.ts"
import type { ConnectionId, UserId } from "../../protocol/ids.ts"
import type { StoredFiles, LocalFile, StoredBytes } from "../../engine/stored-files.ts"
import type { Engine } from "../engine/engine.ts"
import type { Statement } from "../engine/operations.ts"
import type { FileCache } from "./file-cache.ts"
import { nameBytes } from "./naming.ts"

/** Bytes per row, and so the memory that a transfer takes. */
const PART = 1024 * 1024
/** Longer than it takes to store a file and name it. */
const UNNAMED_MS = 60 * 60_000
/** How often a file may be replaced while it is read. */
const TRIES = 5

/** People's files in the database, a megabyte per row, read through a local cache. */
export class SqlDatabaseFiles implements StoredFiles {
  readonly #engine: Engine
  readonly #cache: FileCache
  readonly #now: () => number

  constructor(engine: Engine, cache: FileCache, now: () => number) {
    this.#engine = engine
    this.#cache = cache
    this.#now = now
  }

  folderOf(user: UserId): string {
    return this.#cache.folderOf(user)
  }

  async find(user: UserId, path: string): Promise<StoredBytes | undefined> {
    const sql = "SELECT content AS id, hash, size FROM kept_file WHERE person = ? AND path = ?"
    return (await this.#engine.query<StoredBytes>(sql, [user, path]))[0]
  }

  async fetch(user: UserId, path: string): Promise<LocalFile | undefined> {
    for (let tries = 0; tries < TRIES; tries++) {
      const stored = await this.find(user, path)
      if (!stored) return undefined
      const local = await this.#cache.get(user, stored, () => this.#read(stored))
      if (local !== undefined) return { stored, local }
      // Other bytes have replaced it in the meantime.
    }
    throw failure("store_unavailable", { problem: "a file was another one each time it was read" })
  }

  async withCopy<T>(user: UserId, path: string, work: (copy: LocalFile) => Promise<T>): Promise<T | undefined> {
    const file = await this.fetch(user, path)
    return file && this.#cache.withCopy(user, file.local, (local) => work({ ...file, local }))
  }

  async put(user: UserId, local: string): Promise<StoredBytes> {
    const id = randomBytes(16).toString("hex")
    const row = `INSERT INTO kept_file (id, person, path, content, hash, size, created_at)
      VALUES (?, ?, NULL, ?, '', 0, ?)`
    await this.#change({ sql: row, values: [id, user, id, this.#now()] })
    const hash = createHash("sha256")
    // A part whose connection was lost may arrive after its row was swept, and would never be deleted. Locking the row
    // makes the sweep wait and delete this part, too.
    const lock = {
      sql: "UPDATE kept_file SET hash = hash WHERE id = ? AND path IS NULL",
      values: [id],
      mustChange: true,
    }
    const sql = "INSERT INTO kept_file_part (content, number, person, bytes) VALUES (?, ?, ?, ?)"
    let [size, number] = [0, 0]
    try {
      for await (const bytes of partsOf(local)) {
        hash.update(bytes)
        size += bytes.length
        if (!(await this.#change(lock, { sql, values: [id, number++, user, bytes] })))
          throw failure("store_unavailable", { problem: "a file was swept up before all of it had come" })
      }
    } catch (error) {
      await this.drop({ id })
      throw error
    }
    return { id, hash: hash.digest("hex"), size }
  }

  async drop({ id }: Pick<StoredBytes, "id">): Promise<void> {
    await this.#drop(id).catch(() => {}) // otherwise removed by a sweep
  }

  adopt(user: UserId, stored: StoredBytes, local: string): Promise<void> {
    return this.#cache.adopt(user, stored, local)
  }

  async add(user: UserId, path: string, stored: StoredBytes, of: ConnectionId): Promise<boolean> {
    // Locks the connection: if it is being deleted, the deletion sees the file. Of two concurrent adds one finds the
    // other's file.
    const lock = "UPDATE connection SET name = name WHERE id = ? AND person = ?"
    const naming = nameBytes(user, path, stored)
    const first = "NOT EXISTS (SELECT 1 FROM kept_file other WHERE other.person = ? AND other.path = ?)"
    return this.#change(
      { sql: lock, values: [of, user], mustChange: true },
      { sql: `${naming.sql} AND ${first}`, values: [...naming.values, user, path], mustChange: true },
    )
  }

  async bytesOf(user: UserId): Promise<number> {
    const sql = "SELECT CAST(coalesce(sum(size), 0) AS BIGINT) AS bytes FROM kept_file WHERE person = ?"
    const [row] = await this.#engine.query<{ bytes: number }>(sql, [user])
    return row?.bytes ?? 0
  }

  forget(user: UserId): Promise<void> {
    return this.#cache.forget(user)
  }

  async sweep(): Promise<void> {
    const old = "SELECT id FROM kept_file WHERE path IS NULL AND created_at < ?"
    for (const { id } of await this.#engine.query<{ id: string }>(old, [this.#now() - UNNAMED_MS])) {
      await this.#drop(id)
    }
    await this.#cache.tidy(async (user) => {
      const sql = "SELECT hash FROM kept_file WHERE person = ? AND path IS NOT NULL"
      return new Set((await this.#engine.query<{ hash: string }>(sql, [user])).map(({ hash }) => hash))
    })
  }

  #drop(id: string): Promise<boolean> {
    return this.#change(
      { sql: "DELETE FROM kept_file WHERE id = ? AND path IS NULL", values: [id], mustChange: true },
      { sql: "DELETE FROM kept_file_part WHERE content = ?", values: [id] },
    )
  }

  /** Ends early if the bytes are deleted; then the hash does not match. */
  async *#read({ id }: StoredBytes): AsyncGenerator<Uint8Array> {
    const sql = "SELECT bytes FROM kept_file_part WHERE content = ? AND number = ?"
    for (let number = 0; ; number++) {
      const [row] = await this.#engine.query<{ bytes: Uint8Array }>(sql, [id, number])
      if (!row) return
      yield row.bytes
    }
  }

  async #change(...statements: Statement[]): Promise<boolean> {
    return (await this.#engine.change({ type: "statements", statements })).ok
  }
}

async function* partsOf(local: string): AsyncGenerator<Buffer> {
  const file = await open(local, "r")
  try {
    for (;;) {
      // A new buffer each time, because the driver may still use the previous one.
      const bytes = Buffer.allocUnsafe(PART)
      let filled = 0
      while (filled < PART) {
        const { bytesRead } = await file.read(bytes, filled, PART - filled)
        if (bytesRead === 0) break
        filled += bytesRead
      }
      if (filled > 0) yield bytes.subarray(0, filled)
      if (filled < PART) return
    }
  } finally {
    await file.close()
  }
}
