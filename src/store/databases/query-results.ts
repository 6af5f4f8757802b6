import { createHash } from "node:crypto"
import { canonicalJson } from "../../protocol/canonical-json.ts"
import type { QueryAnswer } from "../../protocol/databases/connections.ts"
import { type ConnectionId, newId, type ResultId, type UserId } from "../../protocol/ids.ts"
import type { NewResult, QueryResults, StoredResult } from "../../protocol/databases/query-results.ts"
import { toStorableJson } from "../../protocol/text/text.ts"
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
}
const bounds: Bounds = { results: 100, characters: 64 * 1024 * 1024, longest: 8 * 1024 * 1024 }

interface Row {
  readonly id: ResultId
  readonly connection: ConnectionId
  readonly statement: string
  readonly result: string
  readonly truncated: number
  readonly hash: string
  readonly created_at: number
}

/** Whole results of queries. A row is written once and never changed; the oldest go when there are too many. */
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
      statements: [holdStill(conversationId), { sql: INSERT, values }, tooMuchOf(user, this.#most)],
    })
    return { id, connectionId, sql, columns, rows, truncated, ...told(warnings), hash, createdAt: toTime(now) }
  }

  async find(user: UserId, id: ResultId): Promise<StoredResult | undefined> {
    const sql = `SELECT id, connection, statement, result, truncated, hash, created_at FROM query_result
      WHERE id = ? AND person = ?`
    const [row] = await this.#engine.query<Row>(sql, [id, user])
    if (!row) return undefined
    const { columns, rows, warnings } = JSON.parse(row.result) as Pick<StoredResult, "columns" | "rows" | "warnings">
    const { connection: connectionId, statement, truncated, hash, created_at } = row
    const createdAt = toTime(created_at)
    const common = { id, connectionId, sql: statement, columns, rows, truncated: truncated === 1 }
    return { ...common, ...told(warnings), hash, createdAt }
  }
}

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

/** Removes the oldest of a person, as far as there are too many or they are too long together; never the newest. */
function tooMuchOf(user: UserId, { results, characters }: Bounds): Statement {
  const sql = `DELETE FROM query_result WHERE person = ? AND id IN (SELECT id FROM (
      SELECT id, row_number() OVER newest AS place, sum(size) OVER newest AS total FROM query_result WHERE person = ?
      WINDOW newest AS (ORDER BY created_at DESC, id DESC)) AS kept
    WHERE place > ${results} OR (place > 1 AND total > ${characters}))`
  return { sql, values: [user, user] }
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
