import type { DatabaseSync, StatementSync } from "node:sqlite"

/** More than a server says in words that are always the same. */
const MAX_KEPT = 500

/**
 * Statements that stay prepared for whoever says the same words again. The oldest go: lists have a text for every length, and
 * packs may write anything into theirs.
 */
export class KeptStatements {
  readonly #db: DatabaseSync
  readonly #most: number
  readonly #kept = new Map<string, StatementSync>()

  constructor(db: DatabaseSync, most = MAX_KEPT) {
    this.#db = db
    this.#most = most
  }

  prepare(sql: string): StatementSync {
    const known = this.#kept.get(sql)
    if (known) return known
    const [oldest] = this.#kept.keys()
    if (oldest !== undefined && this.#kept.size >= this.#most) this.#kept.delete(oldest)
    const statement = this.#db.prepare(sql)
    this.#kept.set(sql, statement)
    return statement
  }
}
