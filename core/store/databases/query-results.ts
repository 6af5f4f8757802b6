import { createHash } from "node:crypto"
import { canonicalJson } from "../../shared/text/json.ts"
import {
  type NewResult,
  type QueryAnswer,
  type QueryResults,
  RESULT_DAYS,
  type StoredResult,
} from "../../protocol/databases/connections.ts"
import { type ConnectionId, newId, type ResultId, type UserId } from "../../protocol/ids.ts"
import { toStorableJson } from "../../shared/text/text.ts"
import type { Engine } from "../engine/engine.ts"
import type { Statement } from "../engine/operations.ts"
import { toTime } from "../engine/row-values.ts"

/** Limits per person. */
interface Limits {
  /** The newest results up to these numbers; the newest one is always stored. */
  readonly results: number
  readonly characters: number
  /** The limit of one result: further rows are left out, and it is marked as truncated. */
  readonly longest: number
  /** Expired results whose metadata is stored. */
  readonly expired: number
}
const defaultLimits: Limits = { results: 100, expired: 1000, characters: 64 * 1024 * 1024, longest: 8 * 1024 * 1024 }

interface Row {
  readonly id: ResultId
  readonly connection: ConnectionId
  readonly statement: string
  readonly result: string
  readonly truncated: number
  readonly hash: string
  readonly created_at: number
  readonly used_at: number
}

const DAY_MS = 24 * 60 * 60_000
/** Reading a result updates `used_at`, but not more often than this: SQLite rewrites the whole row. */
const RECORD_USE_MS = DAY_MS
/** Results that expire in one statement, because the disk has to overwrite each. */
const AT_ONCE = 10
/** SQLite allows OFFSET only with a LIMIT. */
const NO_LIMIT = 1_000_000

/**
 * Complete results of queries. A result expires if it is not used for some days, or if newer ones need its space: its
 * rows are deleted and its metadata stays, so that a caller learns how to get it again.
 */
export class SqlQueryResults implements QueryResults {
  readonly #engine: Engine
  readonly #now: () => number
  readonly #limits: Limits

  constructor(engine: Engine, now: () => number, limits = defaultLimits) {
    this.#engine = engine
    this.#now = now
    this.#limits = limits
  }

  async keep(user: UserId, { connectionId, conversationId, sql, answer }: NewResult): Promise<StoredResult> {
    const now = this.#now()
    const id = newId("res", user, now)
    const { warnings } = answer
    const { columns, rows, truncated } = shortened(answer, this.#limits.longest)
    const result = toStorableJson({ columns, rows, warnings })
    const hash = createHash("sha256").update(canonicalJson({ columns, rows })).digest("hex")
    const texts = [id, user, connectionId, conversationId, sql, result, hash]
    const values = [...texts, result.length, truncated ? 1 : 0, now, conversationId, conversationId]
    await this.#engine.change({
      type: "statements",
      statements: [lockConversation(conversationId), { sql: INSERT, values }, ...expireExcess(user, this.#limits)],
    })
    return { id, connectionId, sql, columns, rows, truncated, ...withWarnings(warnings), hash, createdAt: toTime(now) }
  }

  async find(user: UserId, id: ResultId): Promise<StoredResult | undefined> {
    const sql = `SELECT id, connection, statement, result, truncated, hash, created_at, ${USED} AS used_at FROM query_result
      WHERE id = ? AND person = ? AND size > 0 AND ${USED} > ?`
    const now = this.#now()
    const [row] = await this.#engine.query<Row>(sql, [id, user, now - RESULT_DAYS * DAY_MS])
    if (!row) return undefined
    if (row.used_at < now - RECORD_USE_MS) await this.#recordUse(id, now)
    const { columns, rows, warnings } = JSON.parse(row.result) as Pick<StoredResult, "columns" | "rows" | "warnings">
    const { connection: connectionId, statement, truncated, hash, created_at } = row
    const createdAt = toTime(created_at)
    const common = { id, connectionId, sql: statement, columns, rows, truncated: truncated === 1 }
    return { ...common, ...withWarnings(warnings), hash, createdAt }
  }

  async findExpired(user: UserId, id: ResultId): Promise<ConnectionId | undefined> {
    const sql = `SELECT connection FROM query_result WHERE id = ? AND person = ? AND (size = 0 OR ${USED} <= ?)`
    const values = [id, user, this.#now() - RESULT_DAYS * DAY_MS]
    return (await this.#engine.query<{ connection: ConnectionId }>(sql, values))[0]?.connection
  }

  /** To be called now and then: deletes the rows of expired results. */
  async sweep(): Promise<void> {
    const old = `SELECT id FROM query_result WHERE size > 0 AND ${USED} <= ? LIMIT ${AT_ONCE}`
    for (;;) {
      const before = this.#now() - RESULT_DAYS * DAY_MS
      const ids = (await this.#engine.query<{ id: string }>(old, [before])).map(({ id }) => id)
      if (ids.length === 0) return
      // Not if it was read in between.
      const sql = `${EXPIRE} WHERE id IN (${ids.map(() => "?").join(", ")}) AND ${USED} <= ?`
      await this.#engine.change({ type: "statements", statements: [{ sql, values: [...ids, before] }] })
    }
  }

  /** If this fails, the result expires earlier. */
  async #recordUse(id: ResultId, now: number): Promise<void> {
    const sql = "UPDATE query_result SET used_at = ? WHERE id = ?"
    await this.#engine.change({ type: "statements", statements: [{ sql, values: [now, id] }] }).catch(() => {})
  }
}

/** SQL for the last use of a result. */
const USED = "coalesce(used_at, created_at)"

const withWarnings = (warnings: readonly string[] | undefined) => (warnings ? { warnings: [...warnings] } : {})

/** Locks the conversation without changing it: if it is being erased, the result is erased with it or not stored. */
const lockConversation = (conversation: NewResult["conversationId"]): Statement => ({
  sql: "UPDATE conversation SET seen = seen WHERE id = ?",
  values: [conversation],
})

/** Stores nothing if the conversation was erased meanwhile. */
const INSERT = `INSERT INTO query_result
    (id, person, connection, conversation, statement, result, hash, size, truncated, created_at)
  SELECT ${Array.from({ length: 7 }, () => "CAST(? AS TEXT)").join(", ")}, CAST(? AS BIGINT), CAST(? AS BIGINT),
    CAST(? AS BIGINT) WHERE CAST(? AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM conversation WHERE id = ?)`

const EXPIRE = "UPDATE query_result SET result = '', size = 0"

/** Expires the person's oldest results beyond the limits, but never the newest. */
function expireExcess(user: UserId, { results, characters, expired }: Limits): Statement[] {
  const expire = `${EXPIRE} WHERE person = ? AND id IN (SELECT id FROM (
      SELECT id, row_number() OVER newest AS place, sum(size) OVER newest AS total FROM query_result
      WHERE person = ? AND size > 0 WINDOW newest AS (ORDER BY created_at DESC, id DESC)) AS stored
    WHERE place > ${results} OR (place > 1 AND total > ${characters}))`
  const deleteExpired = `DELETE FROM query_result WHERE person = ? AND size = 0 AND id IN (SELECT id FROM query_result
    WHERE person = ? AND size = 0 ORDER BY created_at DESC, id DESC LIMIT ${NO_LIMIT} OFFSET ${expired})`
  return [expire, deleteExpired].map((sql) => ({ sql, values: [user, user] }))
}

/** The database limits a query's result; as JSON it may be longer. */
function shortened({ columns, rows, truncated }: QueryAnswer, longest: number): QueryAnswer {
  let left = longest
  const fitting = rows.findIndex((row) => {
    left -= JSON.stringify(row).length
    return left < 0
  })
  return fitting === -1 ? { columns, rows, truncated } : { columns, rows: rows.slice(0, fitting), truncated: true }
}
