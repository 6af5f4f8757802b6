import type { DatabaseSync } from "node:sqlite"
import type { CallOutcome } from "../protocol/socket.ts"
import { inTransaction } from "./open-database.ts"

/**
 * What became of a call. `begun` is a tool with effects outside this file: should the device die before it ends, nobody
 * can tell how far it came. `refused`: the server was told that it never came; an offer that it sent before it heard that
 * must not come true behind its back.
 */
export type LedgerEntry = EndedCall | { readonly state: "begun" } | { readonly state: "refused" }
export interface EndedCall {
  readonly state: "applied" | "failed"
  readonly outcome: CallOutcome
}

/** How long a call is remembered. The server gives a write up long before: it offers one for minutes at most. */
export const LEDGER_DAYS = 30
export const DAY_MS = 24 * 60 * 60 * 1000

/** The server's call ids, each with what became of it, in the file that has the effects: both are one commit. */
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

  /** Notes a call for the first time, or over a refusal. Throws where more is known, which undoes the effect it came with. */
  add(id: string, entry: LedgerEntry): void {
    const { changes } = this.#db
      .prepare(
        `INSERT INTO "pawlCall" (id, state, outcome, at) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE
         SET state = excluded.state, outcome = excluded.outcome, at = excluded.at WHERE "pawlCall".state = 'refused'`,
      )
      .run(id, entry.state, "outcome" in entry ? JSON.stringify(entry.outcome) : null, this.#now())
    if (changes !== 1) throw new Error(`${id} is in the ledger already`)
  }

  /** How a call that was begun has ended. */
  end(id: string, { state, outcome }: EndedCall): void {
    inTransaction(this.#db, () => {
      this.#db
        .prepare(`UPDATE "pawlCall" SET state = ?, outcome = ?, at = ? WHERE id = ? AND state = 'begun'`)
        .run(state, JSON.stringify(outcome), this.#now(), id)
    })
  }

  /** What is known of a call. One that is not known is refused from now on: the server takes it that it never happened. */
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
