import { createHash, type Hash } from "node:crypto"
import { createReadStream } from "node:fs"
import { appendFile, mkdir, rename, rm, stat, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { UserId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"
import type { UploadPart } from "./check-lines.ts"

/** Bytes of one line. */
const PART = 1024 * 1024

export interface UploadsOptions {
  /** The folder of uploaded databases, with a folder for each person. */
  readonly root: string
  /** The path of a connection's database in the folder of its person. */
  pathOf(connection: string): string
  readonly now: () => number
}

/** The databases created from uploads: files on this machine's disk, or rows if several machines share the database. */
export class Uploads {
  readonly #engine: Engine
  readonly #options: UploadsOptions
  /** The one that is being written. */
  #writing: { readonly connection: string; readonly hash: Hash; size: number } | undefined

  constructor(engine: Engine, options: UploadsOptions) {
    this.#engine = engine
    this.#options = options
  }

  async read(user: UserId, connection: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const path = this.#options.pathOf(connection)
    const sql = "SELECT content FROM kept_file WHERE person = ? AND path = ?"
    const [row] = await this.#engine.query<{ content: string }>(sql, [user, path])
    if (row) return this.#readRows(row.content)
    const file = join(this.#options.root, user, path)
    const isFile = await stat(file).then(
      (found) => found.isFile(),
      () => false,
    )
    return isFile ? createReadStream(file, { highWaterMark: PART }) : undefined
  }

  /** Writes a part of an upload whose connection was imported. The file is complete after its last part. */
  async write(user: UserId, { connection, number, bytes }: UploadPart): Promise<void> {
    if (number === 0) await this.#start(user, connection)
    const writing = this.#writing
    if (writing?.connection !== connection) return // it is there, or its connection was left out
    if (bytes) {
      writing.hash.update(bytes)
      writing.size += bytes.length
      if (this.#engine.manyMachines) {
        const sql = "INSERT INTO kept_file_part (content, number, person, bytes) VALUES (?, ?, ?, ?)"
        await this.#change(sql, [idOf(connection), number, user, bytes])
      } else await appendFile(this.#temporary(user, connection), bytes)
      return
    }
    this.#writing = undefined
    const path = this.#options.pathOf(connection)
    if (!this.#engine.manyMachines) {
      await rename(this.#temporary(user, connection), join(this.#options.root, user, path))
      return
    }
    const sql = "UPDATE kept_file SET path = ?, hash = ?, size = ? WHERE id = ? AND path IS NULL"
    await this.#change(sql, [path, writing.hash.digest("hex"), writing.size, idOf(connection)])
  }

  async #start(user: UserId, connection: string): Promise<void> {
    this.#writing = undefined
    const isHere = "SELECT 1 FROM connection WHERE id = ? AND person = ?"
    if ((await this.#engine.query(isHere, [connection, user])).length === 0) return
    if (await this.read(user, connection)) return
    this.#writing = { connection, hash: createHash("sha256"), size: 0 }
    if (!this.#engine.manyMachines) {
      const file = this.#temporary(user, connection)
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      await rm(file, { force: true })
      await writeFile(file, "", { mode: 0o600, flag: "wx" })
      return
    }
    const id = idOf(connection)
    await this.#change("DELETE FROM kept_file_part WHERE content = ?", [id])
    const sql = `INSERT INTO kept_file (id, person, path, content, hash, size, created_at)
      VALUES (?, ?, NULL, ?, '', 0, ?) ON CONFLICT (id) DO NOTHING`
    await this.#change(sql, [id, user, id, this.#options.now()])
  }

  #temporary(user: UserId, connection: string): string {
    return join(this.#options.root, user, `${this.#options.pathOf(connection)}.importing`)
  }

  async *#readRows(content: string): AsyncGenerator<Uint8Array> {
    const sql = "SELECT bytes FROM kept_file_part WHERE content = ? AND number = ?"
    for (let number = 0; ; number++) {
      const [row] = await this.#engine.query<{ bytes: Uint8Array }>(sql, [content, number])
      if (!row) return
      yield row.bytes
    }
  }

  async #change(sql: string, values: readonly unknown[]): Promise<void> {
    await this.#engine.change({ type: "statements", statements: [{ sql, values }] })
  }
}

/** The same for each import of it, so that an import that is run again replaces its own parts. */
const idOf = (connection: string): string => createHash("sha256").update(connection).digest("hex").slice(0, 32)
