import type { DatabaseSync, StatementSync } from "node:sqlite"
import { EVENT_COLUMNS } from "../event-rows.ts"
import { AUDIT_COLUMNS, USAGE_COLUMNS } from "../operations.ts"

const HEAD =
  "agent = ?, model = ?, provider = ?, mode = ?, title = ?, status = ?, device = ?, connection = ?, settings = ?, updated_at = ?"

const EVENT_VALUES = "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?"

const sql = {
  lease: "SELECT arrivals FROM conversation WHERE key = ? AND owner = ? AND fence = ?",
  lastPosition: "SELECT max(position) FROM event WHERE conversation = ?",
  change: `UPDATE conversation SET ${HEAD}, owner = ?, seen = coalesce(?, seen)
    WHERE key = ? AND owner = ? AND fence = ? AND arrivals = ?`,
  claim: `UPDATE conversation SET ${HEAD}, fence = fence + 1,
      owner = CASE WHEN ? AND arrivals = ? THEN NULL ELSE ? END, seen = CASE WHEN ? AND arrivals = ? THEN arrivals ELSE seen END
    WHERE key = ? AND fence = ?
      AND (owner IS NULL OR owner = ? OR NOT EXISTS (SELECT 1 FROM node WHERE node.id = owner))
    RETURNING fence, arrivals, owner, (SELECT max(position) FROM event WHERE conversation = key)`,
  claimAsRead: `UPDATE conversation SET ${HEAD}, fence = fence + 1, owner = ?, seen = coalesce(?, seen)
    WHERE key = ? AND fence = ? AND arrivals = ?
      AND (owner IS NULL OR owner = ? OR NOT EXISTS (SELECT 1 FROM node WHERE node.id = owner))
      AND coalesce((SELECT max(position) FROM event WHERE conversation = key), 0) = ?`,
  create: `INSERT INTO conversation (agent, model, provider, mode, title, status, device, connection, settings, updated_at, id, person, owner,
      fence, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?) ON CONFLICT (id) DO NOTHING`,
  holder: `SELECT fence, owner, EXISTS (SELECT 1 FROM node WHERE node.id = owner)
    FROM conversation WHERE key = ?`,
  run: `INSERT INTO run (conversation, id, status, iteration, max_iterations, pause_reason, error_code, error_message,
      input_tokens, output_tokens, started_at, ended_at, model) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET status = excluded.status, iteration = excluded.iteration,
      pause_reason = excluded.pause_reason, error_code = excluded.error_code, error_message = excluded.error_message,
      input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens, ended_at = excluded.ended_at,
      model = excluded.model`,
  proposal: `INSERT INTO proposal (conversation, id, run_id, position, status, code, expires_at, decided_by, decided_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET status = excluded.status, code = excluded.code,
      decided_by = excluded.decided_by, decided_at = coalesce(decided_at, excluded.decided_at)`,
  usage: `INSERT INTO usage (${USAGE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run, id) DO NOTHING`,
  decide: `UPDATE proposal SET status = ?, decided_by = ?, decided_at = ?
    WHERE id = ? AND conversation = ? AND status = ? AND (status <> 'pending' OR expires_at > ?)`,
  decideExpired: `UPDATE proposal SET status = ?, decided_by = ?, decided_at = ?
    WHERE id = ? AND conversation = ? AND (status = 'expired' OR (status = 'pending' AND expires_at <= ?))`,
  audit: `INSERT INTO audit_entry (${AUDIT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO NOTHING`,
  take: "DELETE FROM inbox WHERE conversation = ? AND number = ?",
  arrive: "UPDATE conversation SET arrivals = arrivals + 1 WHERE key = ? RETURNING arrivals",
  inbox: "INSERT INTO inbox (conversation, number, id, body, created_at) VALUES (?, ?, ?, ?, ?)",
}

/** Events in one prepared statement; most commits have fewer. */
export const EVENTS_AT_ONCE = 4

/** Prepares statements on demand: a process that resumes one conversation needs few of them. */
export class PreparedStatements {
  readonly #db: DatabaseSync
  readonly #insert: string
  readonly #named: Partial<Record<keyof typeof sql, StatementSync>> = {}
  readonly #inserts: StatementSync[] = []
  readonly #appends: StatementSync[] = []

  /** `onConflict`: what an event whose position is taken undoes, its transaction or its statement. */
  constructor(db: DatabaseSync, onConflict: "ROLLBACK" | "ABORT") {
    this.#db = db
    this.#insert = `INSERT OR ${onConflict} INTO event (conversation, ${EVENT_COLUMNS})`
  }

  named(name: keyof typeof sql): StatementSync {
    return (this.#named[name] ??= this.#prepare(sql[name]))
  }

  insertEvents(count: number): StatementSync {
    return (this.#inserts[count] ??= this.#prepare(`${this.#insert} VALUES ${repeated(`(?, ${EVENT_VALUES})`, count)}`))
  }

  /** Inserts under a lease, if no unknown input has arrived. */
  appendEvents(count: number): StatementSync {
    return (this.#appends[count] ??= this.#prepare(`${this.#insert} ${underLease(count)}`))
  }

  /** Rows as arrays, because objects would cost more than the reading. */
  #prepare(text: string): StatementSync {
    const statement = this.#db.prepare(text)
    statement.setReturnArrays(true)
    return statement
  }
}

function underLease(count: number): string {
  const rows = count === 1 ? "" : `, (VALUES ${repeated(`(${EVENT_VALUES})`, count)}) AS new`
  return `SELECT key, ${count === 1 ? EVENT_VALUES : "new.*"}
    FROM conversation${rows} WHERE key = ? AND owner = ? AND fence = ? AND arrivals = ?`
}

const repeated = (text: string, count: number): string => new Array<string>(count).fill(text).join(", ")
