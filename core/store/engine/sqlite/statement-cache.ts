import type { DatabaseSync, StatementSync } from "node:sqlite"

/** More than the number of constant statements of a server. */
const MAX_STATEMENTS = 500

/**
 * A cache of prepared statements. The oldest are removed, because lists have a text for every length and packs write
 * arbitrary SQL.
 */
export class StatementCache {
  readonly #db: DatabaseSync
  readonly #most: number
  readonly #statements = new Map<string, StatementSync>()

  constructor(db: DatabaseSync, most = MAX_STATEMENTS) {
    this.#db = db
    this.#most = most
  }

  prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known) return known
    const [oldest] = this.#statements.keys()
    if (oldest !== undefined && this.#statements.size >= this.#most) this.#statements.delete(oldest)
    const statement = this.#db.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }
}
