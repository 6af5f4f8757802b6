import type { DatabaseSync, StatementSync } from "node:sqlite"
import type { EventRow } from "./event-rows.ts"
import { EVENT_COLUMNS } from "./event-rows.ts"
import type {
  Arrival,
  Commit,
  Committed,
  Deciding,
  HeadRow,
  Operation,
  Outcome,
  ProposalRow,
  Refusal,
  RunRow,
  Statements,
} from "./operations.ts"

type Value = string | number | null

const HEAD = "agent = ?, model = ?, provider = ?, mode = ?, title = ?, status = ?, updated_at = ?"

function toValues({ agent, model, provider, mode, title, status }: HeadRow): Value[] {
  return [agent, model, provider, mode, title, status]
}

/** Inserts of one to four events: most commits are one statement then. */
const INSERTS = [1, 2, 3, 4].map((count) => {
  const values = Array.from({ length: count }, () => "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)").join(", ")
  return `INSERT INTO event (conversation, ${EVENT_COLUMNS}) VALUES ${values}`
})

/** Whether events stand directly behind the last one there is: a journal has no gaps. */
function follows(events: readonly EventRow[], last: unknown): boolean {
  const [first] = events
  return !first || first[0] === ((last as number | null) ?? 0) + 1
}

/** A refusal travels as an exception inside, so that everything the operation has done so far is undone with it. */
class Refused extends Error {
  readonly why: Refusal

  constructor(why: Refusal) {
    super(why)
    this.why = why
  }
}

/** Carries out operations on one SQLite connection. Statements are prepared once; the hot path is a handful of them. */
export class SqliteOperations {
  readonly #db: DatabaseSync
  readonly #prepared = new Map<string, StatementSync>()

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  /** All operations in one commit. One that is refused or fails undoes only itself. */
  applyAll(operations: readonly Operation[]): (Outcome | Error)[] {
    this.#run("BEGIN IMMEDIATE")
    try {
      const [only] = operations
      const outcomes =
        only && operations.length === 1 ? [this.#apply(only)] : operations.map((each) => this.#applyAlone(each))
      this.#run("COMMIT")
      return outcomes
    } catch (error) {
      if (this.#db.isTransaction) this.#run("ROLLBACK")
      if (error instanceof Refused) return [{ ok: false, refused: error.why }]
      throw error
    }
  }

  #applyAlone(operation: Operation): Outcome | Error {
    this.#run("SAVEPOINT operation")
    try {
      const outcome = this.#apply(operation)
      this.#run("RELEASE operation")
      return outcome
    } catch (error) {
      // A full disk ends the whole transaction, not only this operation: then nobody may be told that it was done.
      if (!this.#db.isTransaction) throw error
      this.#run("ROLLBACK TO operation")
      this.#run("RELEASE operation")
      return error instanceof Refused ? { ok: false, refused: error.why } : (error as Error)
    }
  }

  #apply(operation: Operation): Outcome {
    switch (operation.type) {
      case "commit":
        return { ok: true, committed: this.#commit(operation) }
      case "arrival":
        return { ok: true, arrived: this.#arrive(operation) }
      case "statements":
        return { ok: true, rows: this.#statements(operation) }
    }
  }

  #commit(commit: Commit): Committed {
    if (commit.deciding) this.#decide(commit.deciding, commit.now)
    const committed = this.#lease(commit)
    const { key } = committed
    if (commit.events.length > 0) this.#insertEvents(key, commit.events)
    if (commit.run) this.#putRun(key, commit.run)
    for (const proposal of commit.proposals) this.#putProposal(key, proposal)
    for (const number of commit.taken) this.#run("DELETE FROM inbox WHERE conversation = ? AND number = ?", key, number)
    return committed
  }

  #lease(commit: Commit): Committed {
    const { key, node, fence, seen, now, head, release } = commit
    if (commit.lease === "create") return this.#create(commit)
    if (commit.lease === "claim") return this.#claim(commit)
    const row = this.#get(
      `SELECT arrivals, (SELECT max(position) FROM event WHERE conversation = key) AS position
       FROM conversation WHERE key = ? AND owner = ? AND fence = ?`,
      ...[key, node, fence],
    )
    if (!row || !follows(commit.events, row.position)) throw new Refused("lost")
    const arrivals = row.arrivals as number
    const released = release && arrivals === seen
    if (head) {
      this.#run(
        `UPDATE conversation SET ${HEAD}, owner = ?, seen = iif(?, ?, seen) WHERE key = ?`,
        ...[...toValues(head), now, released ? null : node, released ? 1 : 0, seen, key],
      )
    }
    return { key, fence, arrivals, released }
  }

  #claim(commit: Commit): Committed {
    const { key, node, fence, seen, now, head, release, withInbox } = commit
    if (!head) throw new Error("a claim needs the row of its conversation")
    const row = this.#get(
      `UPDATE conversation SET ${HEAD}, fence = fence + 1, owner = iif(? AND arrivals = ?, NULL, ?), seen = iif(? AND arrivals = ?, arrivals, seen)
       WHERE key = ? AND fence = ? AND (? OR arrivals = ?)
         AND (owner IS NULL OR owner = ? OR NOT EXISTS (SELECT 1 FROM node WHERE node.id = owner AND expires_at > ?))
       RETURNING fence, arrivals, owner`,
      ...[
        ...toValues(head),
        now,
        release ? 1 : 0,
        seen,
        node,
        release ? 1 : 0,
        seen,
        key,
        fence,
        withInbox ? 1 : 0,
        seen,
        node,
        now,
      ],
    )
    if (!row) throw new Refused(this.#whyNotClaimed(commit))
    const last = this.#get("SELECT max(position) AS position FROM event WHERE conversation = ?", key)
    if (!follows(commit.events, last?.position)) throw new Refused("moved")
    return { key, fence: row.fence as number, arrivals: row.arrivals as number, released: row.owner === null }
  }

  #create({ born, head, node, now, release }: Commit): Committed {
    if (!born || !head) throw new Error("a new conversation needs its row")
    const row = this.#get(
      `INSERT INTO conversation (agent, model, provider, mode, title, status, updated_at, id, person, owner, fence, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?) ON CONFLICT (id) DO NOTHING RETURNING key`,
      ...[...toValues(head), now, born.id, born.person, release ? null : node, now],
    )
    if (!row) throw new Refused("moved")
    return { key: row.key as number, fence: 1, arrivals: 0, released: release }
  }

  #whyNotClaimed({ key, fence, node, now }: Commit): Refusal {
    const row = this.#get(
      `SELECT fence, owner, EXISTS (SELECT 1 FROM node WHERE node.id = owner AND expires_at > ?) AS alive
       FROM conversation WHERE key = ?`,
      ...[now, key],
    )
    return row && row.fence === fence && row.owner !== null && row.owner !== node && row.alive === 1 ? "busy" : "moved"
  }

  #insertEvents(key: number, events: readonly EventRow[]): void {
    for (let start = 0; start < events.length; start += INSERTS.length) {
      const rows = events.slice(start, start + INSERTS.length)
      this.#run(INSERTS[rows.length - 1] as string, ...rows.flatMap((row) => [key, ...row]))
    }
  }

  #putRun(key: number, run: RunRow): void {
    this.#run(
      `INSERT INTO run (conversation, id, status, iteration, max_iterations, pause_reason, error_code, error_message,
         input_tokens, output_tokens, started_at, ended_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET status = excluded.status, iteration = excluded.iteration,
         pause_reason = excluded.pause_reason, error_code = excluded.error_code, error_message = excluded.error_message,
         input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens, ended_at = excluded.ended_at`,
      ...[key, ...run],
    )
  }

  #putProposal(key: number, proposal: ProposalRow): void {
    this.#run(
      `INSERT INTO proposal (conversation, id, run_id, position, status, code, expires_at, decided_by, decided_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET status = excluded.status, code = excluded.code,
         decided_by = excluded.decided_by, decided_at = coalesce(decided_at, excluded.decided_at)`,
      ...[key, ...proposal],
    )
  }

  #arrive({ key, id, body, now, deciding }: Arrival): number {
    if (deciding) this.#decide(deciding, now)
    const row = this.#get("UPDATE conversation SET arrivals = arrivals + 1 WHERE key = ? RETURNING arrivals", key)
    if (!row) throw new Refused("moved")
    const number = row.arrivals as number
    const sql = "INSERT INTO inbox (conversation, number, id, body, created_at) VALUES (?, ?, ?, ?, ?)"
    this.#run(sql, key, number, id, body, now)
    return number
  }

  #decide({ proposal, from, to, by }: Deciding, now: number): void {
    const row = this.#get(
      `UPDATE proposal SET status = ?, decided_by = ?, decided_at = ?
       WHERE id = ? AND status = ? AND (status <> 'pending' OR expires_at > ?) RETURNING id`,
      ...[to, by, now, proposal, from, now],
    )
    if (!row) throw new Refused("decided")
  }

  #statements({ statements }: Statements): Record<string, unknown>[][] {
    return statements.map(({ sql, values, mustChange }) => {
      const rows = this.#prepare(sql).all(...(values as Value[])) as Record<string, unknown>[]
      if (mustChange && rows.length === 0 && Number(this.#get("SELECT changes() AS n")?.n) === 0)
        throw new Refused("moved")
      return rows
    })
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#prepared.get(sql)
    if (!statement) this.#prepared.set(sql, (statement = this.#db.prepare(sql)))
    return statement
  }

  #run(sql: string, ...values: Value[]): void {
    this.#prepare(sql).run(...values)
  }

  #get(sql: string, ...values: Value[]): Record<string, unknown> | undefined {
    return this.#prepare(sql).get(...values) as Record<string, unknown> | undefined
  }
}
