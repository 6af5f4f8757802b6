import type { Page } from "../../protocol/answers.ts"
import type { StoredConnection, Target } from "../../protocol/databases/connections.ts"
import { failure } from "../../protocol/errors.ts"
import { type ConnectionId, newId, type UserId } from "../../protocol/ids.ts"
import type { StoredBytes } from "../../engine/stored-files.ts"
import type { PageQuery } from "../../protocol/requests.ts"
import type { Engine } from "../engine/engine.ts"
import { newestFirst } from "../engine/newest-first.ts"
import { nameBytes, removeFile, unnameUnless } from "../files/naming.ts"
import { type EncryptedColumns, EncryptedRows } from "../people/encrypted-rows.ts"
import type { Secrets } from "../people/secrets.ts"
import { toTime } from "../engine/row-values.ts"

/** The maximum connections of a person. */
const MAX_CONNECTIONS = 100
const COLUMNS = "x.id, x.name, x.engine, x.key_id, x.sealed, x.created_at, x.updated_at"

/** Optional fields of a new connection. */
export interface NewConnectionOptions {
  /** Default: a new id. */
  readonly id?: ConnectionId
  /** The content of its file. */
  readonly stored?: StoredBytes | undefined
}

interface Row extends EncryptedColumns {
  readonly id: ConnectionId
  readonly name: string
  readonly engine: Target["kind"]
  readonly created_at: number
  readonly updated_at: number
}

/** People's database connections. A target is encrypted as a whole. */
export class SqlConnections {
  readonly #engine: Engine
  readonly #sealed: EncryptedRows<Target>
  readonly #now: () => number

  constructor(engine: Engine, secrets: Secrets, now: () => number) {
    this.#engine = engine
    this.#sealed = new EncryptedRows("connection", engine, secrets)
    this.#now = now
  }

  async list(user: UserId, page: PageQuery): Promise<Page<StoredConnection>> {
    const { items, nextCursor } = await newestFirst<Row, Row>(this.#engine, page, {
      select: `SELECT ${COLUMNS} FROM connection x WHERE x.person = ?`,
      values: [user],
      toItem: (row) => row,
    })
    return { items: await Promise.all(items.map((row) => this.#open(user, row))), nextCursor }
  }

  /** Undefined also if it belongs to another person. */
  async find(user: UserId, id: ConnectionId): Promise<StoredConnection | undefined> {
    const sql = `SELECT ${COLUMNS} FROM connection x WHERE x.id = ? AND x.person = ?`
    const [row] = await this.#engine.query<Row>(sql, [id, user])
    return row && this.#open(user, row)
  }

  /**
   * Throws `too_many` at the limit. If `stored` bytes are passed, their file is created in the same change, so that
   * there is never a connection without its file or a file without its connection.
   */
  async create(user: UserId, name: string, target: Target, options: NewConnectionOptions = {}): Promise<ConnectionId> {
    const now = this.#now()
    const { id = newId("conn", user, now), stored } = options
    const isBelowLimit = `(SELECT count(*) FROM connection WHERE person = ?) < ${MAX_CONNECTIONS}`
    const isStored = stored ? " AND EXISTS (SELECT 1 FROM kept_file WHERE id = ? AND path IS NOT NULL)" : ""
    const sql = `INSERT INTO connection (id, person, name, engine, key_id, sealed, created_at, updated_at)
      SELECT ?, ?, ?, ?, ?, ?, CAST(? AS BIGINT), CAST(? AS BIGINT) WHERE ${isBelowLimit}${isStored}`
    await this.#sealed.write(user, id, target, ({ keyId, sealed }) => {
      const values = [id, user, name, target.kind, keyId, sealed, now, now, user]
      if (!stored || target.kind !== "sqlite") return { sql, values }
      const insert = { sql, values: [...values, stored.id] }
      return [nameBytes(user, target.path, stored), insert, unnameUnless(id, stored)]
    })
    if (await this.#sealed.has(user, id)) return id
    if (stored && !(await this.#isStored(stored)))
      throw failure("store_unavailable", { problem: "the file was swept up before it was recorded; send it again" })
    throw failure("too_many", { what: "connections", most: MAX_CONNECTIONS })
  }

  /**
   * A separate change, so that it never restores a target that was changed meanwhile. Ignored if the connection is
   * gone.
   */
  async rename(user: UserId, id: ConnectionId, name: string): Promise<void> {
    const sql = "UPDATE connection SET name = ?, updated_at = ? WHERE id = ? AND person = ?"
    const values = [name, this.#now(), id, user]
    await this.#engine.change({ type: "statements", statements: [{ sql, values }] })
  }

  /** Replaces the whole target: of two concurrent changes one wins, and neither gets the other's password. */
  async retarget(user: UserId, id: ConnectionId, target: Target): Promise<void> {
    const sql =
      "UPDATE connection SET key_id = ?, sealed = ?, updated_at = ? WHERE id = ? AND person = ? AND engine = ?"
    await this.#sealed.write(user, id, target, ({ keyId, sealed }) => {
      return { sql, values: [keyId, sealed, this.#now(), id, user, target.kind] }
    })
  }

  /** Deletes a connection with its stored file, if it has one. Throws `not_found`. */
  async remove(user: UserId, id: ConnectionId, path?: string): Promise<void> {
    // Results that the person requested directly are deleted; results of a conversation belong to the conversation.
    const results = "DELETE FROM query_result WHERE person = ? AND connection = ? AND conversation IS NULL"
    const related = [{ sql: results, values: [user, id] }, ...(path === undefined ? [] : removeFile(user, path))]
    await this.#sealed.remove(user, id, related)
  }

  async #isStored({ id }: StoredBytes): Promise<boolean> {
    return (await this.#engine.query("SELECT 1 FROM kept_file WHERE id = ?", [id])).length > 0
  }

  async #open(user: UserId, row: Row): Promise<StoredConnection> {
    const { id, name, engine, sealed, created_at, updated_at } = row
    const target = await this.#sealed.open(user, id, row)
    const times = { createdAt: toTime(created_at), updatedAt: toTime(updated_at) }
    // The column is for lists and exports; the encrypted kind counts.
    return { id, name, kind: target?.kind ?? engine, target, version: sealed, ...times }
  }
}
