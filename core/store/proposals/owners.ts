import type { Engine } from "../engine/engine.ts"

/** Rows per transaction, so that decisions are not delayed, and transactions per request. */
const ROWS_AT_ONCE = 500
const MAX_TRANSACTIONS = 8

/**
 * A proposal belongs to its conversation's person. For lists the person is also stored in the proposal's row, by the
 * next list request, so that no turn pays for it. Until then the row is found among those without a person.
 */
export class ProposalOwners {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** If this fails or another process does it, the rows are still found. */
  async assign(): Promise<void> {
    const any = "SELECT 1 FROM proposal WHERE person IS NULL LIMIT 1"
    // Skips locked rows, so that it cannot deadlock.
    const some = `SELECT id FROM proposal WHERE person IS NULL LIMIT ${ROWS_AT_ONCE} ${this.#engine.skipLocked ?? ""}`
    const sql = `UPDATE proposal SET person = (SELECT c.person FROM conversation c WHERE c.key = proposal.conversation)
      WHERE id IN (${some})`
    for (let i = 0; i < MAX_TRANSACTIONS; i++) {
      if ((await this.#engine.query(any, [])).length === 0) return
      const changed = this.#engine.change({ type: "statements", statements: [{ sql, values: [] }] })
      const isDone = await changed.then(
        () => true,
        () => false,
      )
      if (!isDone) return
    }
  }
}
