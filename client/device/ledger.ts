import type { DatabaseSync } from "node:sqlite"
import type { CallOutcome } from "../../core/protocol/socket.ts"
import { inTransaction } from "./open-database.ts"

/**
 * The state of a call. `begun`: a tool with effects outside this file started; if the device fails before it ends, its
 * outcome is unknown. `refused`: the server received the answer that the call never arrived, so a delayed copy of it must not run.
 */
export type LedgerEntry = EndedCall | { readonly state: "begun" } | { readonly state: "refused" }
interface EndedCall {
  readonly state: "applied" | "failed"
  readonly outcome: CallOutcome
}

/**
 * How many days a device remembers a call that it has run, so that a repeated one has no second effect. The server
 * offers a write for minutes at most.
 */
export const LEDGER_DAYS = 30
export const DAY_MS = 24 * 60 * 60 * 1000

/** Stores the outcome of each call id in the same file as its effects, so that both are one commit. */
export class Ledger {
  readonly #db: DatabaseSync
  readonly #now: () => number

  constructor(db: DatabaseSync, now: () => number) {
    this.#db = db
    this.#now = now
  }

  find(id: string): LedgerEntry | undefined {
    const row = this.#db.prepare(`SELECT state, outcome FROM "pawlCall" WHERE id = ?`).get(id) as
      | { state: LedgerEntry["state"]; outcome: string | null }
      | undefined
    if (!row) return undefined
    if (row.state === "begun" || row.state === "refused") return { state: row.state }
    return { state: row.state, outcome: JSON.parse(row.outcome ?? "{}") as CallOutcome }
  }

  /**
   * Stores a new call, or replaces a refusal. Throws if the call is already stored, which rolls back the effect in the
   * same transaction.
   */
  add(id: string, entry: LedgerEntry): void {
    const { changes } = this.#db
      .prepare(
        `INSERT INTO "pawlCall" (id, state, outcome, at) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE
         SET state = excluded.state, outcome = excluded.outcome, at = excluded.at WHERE "pawlCall".state = 'refused'`,
      )
      .run(id, entry.state, "outcome" in entry ? JSON.stringify(entry.outcome) : null, this.#now())
    if (changes !== 1) throw new Error(`${id} is in the ledger already`)
  }

  /** Stores how a running call ended. */
  end(id: string, { state, outcome }: EndedCall): void {
    inTransaction(this.#db, () => {
      this.#db
        .prepare(`UPDATE "pawlCall" SET state = ?, outcome = ?, at = ? WHERE id = ? AND state = 'begun'`)
        .run(state, JSON.stringify(outcome), this.#now(), id)
    })
  }

  /**
   * Returns the state of a call. An unknown call is refused from now on, because the server then assumes that it never
   * ran.
   */
  settle(id: string): LedgerEntry {
    return inTransaction(this.#db, () => {
      const entry = this.find(id)
      if (entry) return entry
      this.add(id, { state: "refused" })
      return { state: "refused" }
    })
  }

  prune(): void {
    this.#db.prepare(`DELETE FROM "pawlCall" WHERE at < ?`).run(this.#now() - LEDGER_DAYS * DAY_MS)
  }
}
