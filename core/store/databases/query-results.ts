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

/** What is kept for one person. */
interface Bounds {
  /** The newest so many, and together no more than so many characters; but always the newest. */
  readonly results: number
  readonly characters: number
  /** Of a single one: rows beyond are left out of what is kept, and it says so. */
  readonly longest: number
  /** Expired ones of which is known that they were there. */
  readonly expired: number
}
const bounds: Bounds = { results: 100, expired: 1000, characters: 64 * 1024 * 1024, longest: 8 * 1024 * 1024 }

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
/** Where a result is read it is noted that it was, but not more often: on SQLite that writes the whole row. */
const NOTED_MS = DAY_MS
/** So many lose their rows in one statement: a disk writes for each of them what it takes to clear it. */
const AT_ONCE = 10
/** SQLite takes no OFFSET without a LIMIT. */
const MANY = 1_000_000

/**
 * Whole results of queries. One that was not used for some days, or that newer ones have no room for, expires: its rows go, and
 * what it was stays, so that a caller learns how to get it again.
 */
export class SqlQueryResults implements QueryResults {
  readonly #engine: Engine
  readonly #now: () => number
  readonly #most: Bounds

  constructor(engine: Engine, now: () => number, most = bounds) {
    this.#engine = engine
    this.#now = now
    this.#most = most
  }

  async keep(user: UserId, { connectionId, conversationId, sql, answer }: NewResult): Promise<StoredResult> {
    const now = this.#now()
    const id = newId("res", user, now)
    const { warnings } = answer
    const { columns, rows, truncated } = shortened(answer, this.#most.longest)
    const result = toStorableJson({ columns, rows, warnings })
    const hash = createHash("sha256").update(canonicalJson({ columns, rows })).digest("hex")
    const texts = [id, user, connectionId, conversationId, sql, result, hash]
    const values = [...texts, result.length, truncated ? 1 : 0, now, conversationId, conversationId]
    await this.#engine.change({
      type: "statements",
      statements: [holdStill(conversationId), { sql: INSERT, values }, ...tooMuchOf(user, this.#most)],
    })
    return { id, connectionId, sql, columns, rows, truncated, ...told(warnings), hash, createdAt: toTime(now) }
  }

  async find(user: UserId, id: ResultId): Promise<StoredResult | undefined> {
    const sql = `SELECT id, connection, statement, result, truncated, hash, created_at, ${USED} AS used_at FROM query_result
      WHERE id = ? AND person = ? AND size > 0 AND ${USED} > ?`
    const now = this.#now()
    const [row] = await this.#engine.query<Row>(sql, [id, user, now - RESULT_DAYS * DAY_MS])
    if (!row) return undefined
    if (row.used_at < now - NOTED_MS) await this.#noteUse(id, now)
    const { columns, rows, warnings } = JSON.parse(row.result) as Pick<StoredResult, "columns" | "rows" | "warnings">
    const { connection: connectionId, statement, truncated, hash, created_at } = row
    const createdAt = toTime(created_at)
    const common = { id, connectionId, sql: statement, columns, rows, truncated: truncated === 1 }
    return { ...common, ...told(warnings), hash, createdAt }
  }

  async findExpired(user: UserId, id: ResultId): Promise<ConnectionId | undefined> {
    const sql = `SELECT connection FROM query_result WHERE id = ? AND person = ? AND (size = 0 OR ${USED} <= ?)`
    const values = [id, user, this.#now() - RESULT_DAYS * DAY_MS]
    return (await this.#engine.query<{ connection: ConnectionId }>(sql, values))[0]?.connection
  }

  /** To be called now and then: makes the room free that expired results take. */
  async sweep(): Promise<void> {
    const old = `SELECT id FROM query_result WHERE size > 0 AND ${USED} <= ? LIMIT ${AT_ONCE}`
    for (;;) {
      const before = this.#now() - RESULT_DAYS * DAY_MS
      const ids = (await this.#engine.query<{ id: string }>(old, [before])).map(({ id }) => id)
      if (ids.length === 0) return
      // One that was read in between stays.
      const sql = `${EXPIRE} WHERE id IN (${ids.map(() => "?").join(", ")}) AND ${USED} <= ?`
      await this.#engine.change({ type: "statements", statements: [{ sql, values: [...ids, before] }] })
    }
  }

  /** What cannot be noted does no harm: it expires earlier. */
  async #noteUse(id: ResultId, now: number): Promise<void> {
    const sql = "UPDATE query_result SET used_at = ? WHERE id = ?"
    await this.#engine.change({ type: "statements", statements: [{ sql, values: [now, id] }] }).catch(() => {})
  }
}

/** SQL for when a result was used last. */
const USED = "coalesce(used_at, created_at)"

const told = (warnings: readonly string[] | undefined) => (warnings ? { warnings: [...warnings] } : {})

/** Changes nothing, and stands in line with whoever erases the conversation: a result is erased with it, or not kept. */
const holdStill = (conversation: NewResult["conversationId"]): Statement => ({
  sql: "UPDATE conversation SET seen = seen WHERE id = ?",
  values: [conversation],
})

/** Of a conversation that was erased while it asked, nothing is kept. */
const INSERT = `INSERT INTO query_result
    (id, person, connection, conversation, statement, result, hash, size, truncated, created_at)
  SELECT ${Array.from({ length: 7 }, () => "CAST(? AS TEXT)").join(", ")}, CAST(? AS BIGINT), CAST(? AS BIGINT),
    CAST(? AS BIGINT) WHERE CAST(? AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM conversation WHERE id = ?)`

const EXPIRE = "UPDATE query_result SET result = '', size = 0"

/** The oldest of a person expire, as far as there are too many or they are too long together; never the newest. */
function tooMuchOf(user: UserId, { results, characters, expired }: Bounds): Statement[] {
  const expire = `${EXPIRE} WHERE person = ? AND id IN (SELECT id FROM (
      SELECT id, row_number() OVER newest AS place, sum(size) OVER newest AS total FROM query_result
      WHERE person = ? AND size > 0 WINDOW newest AS (ORDER BY created_at DESC, id DESC)) AS stored
    WHERE place > ${results} OR (place > 1 AND total > ${characters}))`
  const forget = `DELETE FROM query_result WHERE person = ? AND size = 0 AND id IN (SELECT id FROM query_result
    WHERE person = ? AND size = 0 ORDER BY created_at DESC, id DESC LIMIT ${MANY} OFFSET ${expired})`
  return [expire, forget].map((sql) => ({ sql, values: [user, user] }))
}

/** A query is bounded by what its database sends; written as JSON the same may be longer. */
function shortened({ columns, rows, truncated }: QueryAnswer, longest: number): QueryAnswer {
  let left = longest
  const fitting = rows.findIndex((row) => {
    left -= JSON.stringify(row).length
    return left < 0
  })
  return fitting === -1 ? { columns, rows, truncated } : { columns, rows: rows.slice(0, fitting), truncated: true }
}
