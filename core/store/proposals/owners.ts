import type { Engine } from "../engine/engine.ts"

/** Rows in one transaction, so that nobody who decides something waits for long; and transactions for one question. */
const ROWS_AT_ONCE = 500
const MAX_TRANSACTIONS = 8

/**
 * Whose a proposal is stands with its conversation. For lists it is noted in its own row too, by whoever lists next: no turn
 * pays for it, and a node of an earlier version need not know of it. Until then the row is found among those without a note.
 */
export class ProposalOwners {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Where nothing can be written, or somebody else is at it, rows stay without: they are found all the same. */
  async assign(): Promise<void> {
    const any = "SELECT 1 FROM proposal WHERE person IS NULL LIMIT 1"
    // Rows that somebody has locked are passed over: whoever waits for none is in nobody's circle.
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
