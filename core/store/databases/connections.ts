import type { Page } from "../../protocol/answers.ts"
import type { StoredConnection, Target } from "../../protocol/databases/connections.ts"
import { failure } from "../../protocol/errors.ts"
import { type ConnectionId, newId, type UserId } from "../../protocol/ids.ts"
import type { StoredBytes } from "../../engine/stored-files.ts"
import type { PageQuery } from "../../protocol/requests.ts"
import type { Engine } from "../engine/engine.ts"
import { newestFirst } from "../engine/newest-first.ts"
import { nameBytes, removeFile, unnameWithout } from "../files/naming.ts"
import { type EncryptedColumns, EncryptedRows } from "../people/encrypted-rows.ts"
import type { Secrets } from "../people/secrets.ts"
import { toTime } from "../engine/row-values.ts"

/** Connections a person may have. */
const MAX = 100
const COLUMNS = "x.id, x.name, x.engine, x.key_id, x.sealed, x.created_at, x.updated_at"

/** What a connection is recorded with, where it is not only a target. */
export interface NewRecord {
  /** Another one otherwise. */
  readonly id?: ConnectionId
  /** What its file is made of. */
  readonly stored?: StoredBytes | undefined
}

interface Row extends EncryptedColumns {
  readonly id: ConnectionId
  readonly name: string
  readonly engine: Target["kind"]
  readonly created_at: number
  readonly updated_at: number
}

/** How people's databases are reached. All of a target is one secret. */
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

  /** Undefined also for somebody else's. */
  async find(user: UserId, id: ConnectionId): Promise<StoredConnection | undefined> {
    const sql = `SELECT ${COLUMNS} FROM connection x WHERE x.id = ? AND x.person = ?`
    const [row] = await this.#engine.query<Row>(sql, [id, user])
    return row && this.#open(user, row)
  }

  /**
   * Throws `too_many` where the person has as many as one may have. With `stored` bytes their file is made in the same
   * change: there is never a connection without its file, or the other way round.
   */
  async create(user: UserId, name: string, target: Target, given: NewRecord = {}): Promise<ConnectionId> {
    const now = this.#now()
    const { id = newId("conn", user, now), stored } = given
    const few = `(SELECT count(*) FROM connection WHERE person = ?) < ${MAX}`
    const there = stored ? " AND EXISTS (SELECT 1 FROM kept_file WHERE id = ? AND path IS NOT NULL)" : ""
    const sql = `INSERT INTO connection (id, person, name, engine, key_id, sealed, created_at, updated_at)
      SELECT ?, ?, ?, ?, ?, ?, CAST(? AS BIGINT), CAST(? AS BIGINT) WHERE ${few}${there}`
    await this.#sealed.write(user, id, target, ({ keyId, sealed }) => {
      const values = [id, user, name, target.kind, keyId, sealed, now, now, user]
      if (!stored || target.kind !== "sqlite") return { sql, values }
      const insert = { sql, values: [...values, stored.id] }
      return [nameBytes(user, target.path, stored), insert, unnameWithout(id, stored)]
    })
    if (await this.#sealed.has(user, id)) return id
    if (stored && !(await this.#isThere(stored)))
      throw failure("store_unavailable", { problem: "the file was swept up before it was recorded; send it again" })
    throw failure("too_many", { what: "connections", most: MAX })
  }

  /** By itself, so that a new name never puts back a target that was changed meanwhile. Of what is gone, nothing is changed. */
  async rename(user: UserId, id: ConnectionId, name: string): Promise<void> {
    const sql = "UPDATE connection SET name = ?, updated_at = ? WHERE id = ? AND person = ?"
    const values = [name, this.#now(), id, user]
    await this.#engine.change({ type: "statements", statements: [{ sql, values }] })
  }

  /** Puts a whole target in place of the one before: of two at once one wins, and neither gets the other's password. */
  async retarget(user: UserId, id: ConnectionId, target: Target): Promise<void> {
    const sql =
      "UPDATE connection SET key_id = ?, sealed = ?, updated_at = ? WHERE id = ? AND person = ? AND engine = ?"
    await this.#sealed.write(user, id, target, ({ keyId, sealed }) => {
      return { sql, values: [keyId, sealed, this.#now(), id, user, target.kind] }
    })
  }

  /** With the file at this path, if it has one in the store. Throws `not_found` where there was nothing. */
  async remove(user: UserId, id: ConnectionId, path?: string): Promise<void> {
    // What a person asked by themselves goes with it; what a conversation found out belongs to the conversation.
    const results = "DELETE FROM query_result WHERE person = ? AND connection = ? AND conversation IS NULL"
    const along = [{ sql: results, values: [user, id] }, ...(path === undefined ? [] : removeFile(user, path))]
    await this.#sealed.remove(user, id, along)
  }

  async #isThere({ id }: StoredBytes): Promise<boolean> {
    return (await this.#engine.query("SELECT 1 FROM kept_file WHERE id = ?", [id])).length > 0
  }

  async #open(user: UserId, row: Row): Promise<StoredConnection> {
    const { id, name, engine, sealed, created_at, updated_at } = row
    const target = await this.#sealed.open(user, id, row)
    const times = { createdAt: toTime(created_at), updatedAt: toTime(updated_at) }
    // The kind beside it is for lists and exports; what counts is the one that was sealed.
    return { id, name, kind: target?.kind ?? engine, target, version: sealed, ...times }
  }
}
