import type { DatabaseSync, StatementSync } from "node:sqlite"
import type { EventRow } from "../event-rows.ts"
import type {
  InboxAppend,
  Commit,
  Committed,
  DecisionCondition,
  Operation,
  OperationOutcome,
  Refusal,
  Statements,
} from "../operations.ts"
import { isLocked } from "./connection.ts"
import { StatementCache } from "./statement-cache.ts"
import { EVENTS_AT_ONCE, PreparedStatements } from "./statements.ts"

type Value = string | number | null

/** Not cached: a new database would hold hundreds of definitions that run once. */
const DEFINITION = /^(?:CREATE|ALTER|DROP)\s/

/** Thrown for a refusal, so that everything the operation has done is undone. */
class Refused extends Error {
  readonly why: Refusal

  constructor(why: Refusal) {
    super(why)
    this.why = why
  }
}

/** Applies operations on one SQLite connection. */
export class SqliteOperations {
  readonly #db: DatabaseSync
  /** A constraint violation rolls back the transaction, so SQLite needs no statement journal. */
  readonly #rollingBack: PreparedStatements
  /** A constraint violation undoes its statement only. */
  readonly #undoing: PreparedStatements
  readonly #cache: StatementCache
  /**
   * The last position of each conversation that this process appended to. Valid while the lease is held, because
   * another writer has to take it over first.
   */
  readonly #lastPositions = new Map<number, number>()

  constructor(db: DatabaseSync) {
    this.#db = db
    this.#rollingBack = new PreparedStatements(db, "ROLLBACK")
    this.#undoing = new PreparedStatements(db, "ABORT")
    this.#cache = new StatementCache(db)
  }

  /** Applies all operations in one commit. One that is refused or fails undoes only itself. */
  applyAll(operations: readonly Operation[]): (OperationOutcome | Error)[] {
    const [only] = operations
    if (only && operations.length === 1) {
      const appended = this.#append(this.#rollingBack, only) // one statement is its own transaction
      return [appended ?? this.#applyAlone(only)]
    }
    try {
      return this.#inOneCommit(() => operations.map((each) => this.#applyTo(this.#rollingBack, each)))
    } catch (error) {
      if (isLocked(error)) throw error
      // The group was rolled back. Repeat it with a savepoint for each operation, which costs a tenth more time.
      return this.#inOneCommit(() => operations.map((each) => this.#applyAmongOthers(each)))
    }
  }

  #applyAlone(operation: Operation): OperationOutcome {
    try {
      return this.#inOneCommit(() => this.#apply(this.#rollingBack, operation))
    } catch (error) {
      if (error instanceof Refused) return { ok: false, refused: error.why }
      throw error
    }
  }

  #inOneCommit<Outcome>(apply: () => Outcome): Outcome {
    this.#prepare("BEGIN IMMEDIATE").run()
    try {
      const outcome = apply()
      this.#prepare("COMMIT").run()
      return outcome
    } catch (error) {
      this.#lastPositions.clear() // they may describe what was not committed
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK")
      throw error
    }
  }

  #applyAmongOthers(operation: Operation): OperationOutcome | Error {
    const appended = this.#append(this.#undoing, operation)
    if (appended) return appended
    this.#prepare("SAVEPOINT operation").run()
    try {
      const outcome = this.#apply(this.#undoing, operation)
      this.#prepare("RELEASE operation").run()
      return outcome
    } catch (error) {
      // A full disk ends the whole transaction, so no operation was done.
      if (!this.#db.isTransaction) throw error
      this.#db.exec("ROLLBACK TO operation; RELEASE operation")
      return error instanceof Refused ? { ok: false, refused: error.why } : (error as Error)
    }
  }

  /**
   * Most commits only append events under a held lease, which the insert itself checks. Undefined for other commits,
   * and if the lease has changed: then `#apply` finds out how.
   */
  #append(prepared: PreparedStatements, operation: Operation): OperationOutcome | undefined {
    if (operation.type !== "commit" || !onlyAppends(operation)) return undefined
    const committed = appendUnderLease(prepared, operation, this.#lastPositions.get(operation.key))
    if (!committed) return undefined
    this.#lastPositions.set(operation.key, operation.after + operation.events.length)
    return { ok: true, committed }
  }

  #applyTo(prepared: PreparedStatements, operation: Operation): OperationOutcome {
    return this.#append(prepared, operation) ?? this.#apply(prepared, operation)
  }

  #apply(prepared: PreparedStatements, operation: Operation): OperationOutcome {
    if (operation.type === "statements") return { ok: true, rows: this.#statements(operation) }
    if (operation.type === "inbox") return { ok: true, arrived: appendToInbox(prepared, operation) }
    const committed = commit(prepared, operation, this.#lastPositions.get(operation.key))
    const last = operation.events.at(-1)
    if (last && !committed.released) this.#lastPositions.set(committed.key, last[0])
    else this.#lastPositions.delete(committed.key)
    return { ok: true, committed }
  }

  #statements({ statements }: Statements): Record<string, unknown>[][] {
    return statements.map(({ sql, values, mustChange }) => {
      if (DEFINITION.test(sql)) {
        this.#db.exec(sql)
        return []
      }
      const rows = this.#prepare(sql).all(...(values as Value[])) as Record<string, unknown>[]
      if (mustChange && rows.length === 0 && this.#prepare("SELECT changes() AS n").get()?.n === 0)
        throw new Refused("moved")
      return rows
    })
  }

  #prepare(sql: string): StatementSync {
    return this.#cache.prepare(sql)
  }
}

function commit(prepared: PreparedStatements, operation: Commit, end: number | undefined): Committed {
  if (operation.deciding) decide(prepared, operation, operation.deciding)
  const appended = appendUnderLease(prepared, operation, end)
  const committed = appended ?? checkLease(prepared, operation, end)
  const { key } = committed
  if (!appended) insertEvents(prepared, key, operation.events)
  for (const run of operation.runs) prepared.named("run").run(key, ...run)
  for (const proposal of operation.proposals) prepared.named("proposal").run(key, ...proposal)
  for (const audit of operation.audits) prepared.named("audit").run(...audit)
  for (const usage of operation.usage) prepared.named("usage").run(...usage)
  for (const number of operation.taken) prepared.named("take").run(key, number)
  return committed
}

/**
 * Appends events with a statement that checks the lease. Undefined, without appending, if the conversation's row
 * changes too, if the last position is unknown, or if the lease has changed.
 */
function appendUnderLease(
  prepared: PreparedStatements,
  { lease, head, release, taken, key, node, fence, seen, after, events }: Commit,
  end: number | undefined,
): Committed | undefined {
  if (lease !== "hold" || head || release || taken.length > 0 || after !== end) return undefined
  if (events.length === 0 || events.length > EVENTS_AT_ONCE) return undefined
  const values: Value[] = []
  for (const event of events) values.push(...event)
  values.push(key, node, fence, seen)
  if (prepared.appendEvents(events.length).run(...values).changes === 0) return undefined
  return { key, fence, arrivals: seen, released: false }
}

/** `end`: the last position, if it is known without a query. */
function checkLease(prepared: PreparedStatements, operation: Commit, end: number | undefined): Committed {
  if (operation.lease === "create") return create(prepared, operation)
  if (operation.lease === "claim") return claim(prepared, operation)
  const { key, node, fence, seen, head, release } = operation
  if (head && end !== undefined && follows(operation.events, end) && change(prepared, operation, seen))
    return { key, fence, arrivals: seen, released: release }
  const row = get<[arrivals: number]>(prepared.named("lease"), key, node, fence)
  if (!row || !follows(operation.events, end ?? lastPosition(prepared, key))) throw new Refused("lost")
  if (operation.taken.length > 0 && row[0] !== seen) throw new Refused("unread")
  if (head) change(prepared, operation, row[0])
  return { key, fence, arrivals: row[0], released: release && row[0] === seen }
}

/** Updates the conversation's row if the lease is still held and this much input has arrived. */
function change(
  prepared: PreparedStatements,
  { key, node, fence, seen, now, head, release }: Commit,
  arrivals: number,
) {
  if (!head) return false
  const { agent, model, provider, mode, title, status, device, connection, settings } = head
  const [owner, read] = release && arrivals === seen ? [null, seen] : [node, null]
  const columns = [agent, model, provider, mode, title, status, device, connection, settings, now, owner, read]
  return prepared.named("change").run(...columns, key, node, fence, arrivals).changes === 1
}

function claim(prepared: PreparedStatements, operation: Commit): Committed {
  const { key, node, fence, seen, now, head, release } = operation
  if (!head) throw new Error("a claim needs the row of its conversation")
  const { agent, model, provider, mode, title, status, device, connection, settings } = head
  const columns = [agent, model, provider, mode, title, status, device, connection, settings, now]
  if (!operation.withInbox) {
    // The row must be as it was read, so its values are known and need not be returned.
    const [owner, read] = release ? [null, seen] : [node, null]
    const claimed = prepared.named("claimAsRead").run(...columns, owner, read, key, fence, seen, node, operation.after)
    if (claimed.changes === 0) throw new Refused(refusalOf(prepared, operation))
    return { key, fence: fence + 1, arrivals: seen, released: release }
  }
  const releases = release ? 1 : 0
  const row = get<[fence: number, arrivals: number, owner: string | null, last: number | null]>(
    prepared.named("claim"),
    ...[...columns, releases, seen, node, releases, seen],
    ...[key, fence, node],
  )
  if (!row) throw new Refused(refusalOf(prepared, operation))
  // Also for a claim without events, whose row would otherwise be out of date.
  if (operation.after !== (row[3] ?? 0)) throw new Refused("moved")
  return { key, fence: row[0], arrivals: row[1], released: row[2] === null }
}

function create(prepared: PreparedStatements, { born, head, node, now, release }: Commit): Committed {
  if (!born || !head) throw new Error("a new conversation needs its row")
  const { agent, model, provider, mode, title, status, device, connection, settings } = head
  const owner = release ? null : node
  const columns = [agent, model, provider, mode, title, status, device, connection, settings, now]
  // RETURNING the key would need a temporary table.
  const result = prepared.named("create").run(...columns, born.id, born.person, owner, now)
  if (result.changes === 0) throw new Refused("moved")
  return { key: Number(result.lastInsertRowid), fence: 1, arrivals: 0, released: release }
}

function refusalOf(prepared: PreparedStatements, { key, fence, node }: Commit): Refusal {
  const row = get<[fence: number, owner: string | null, alive: number]>(prepared.named("holder"), key)
  return row && row[0] === fence && row[1] !== null && row[1] !== node && row[2] === 1 ? "busy" : "moved"
}

function onlyAppends({ lease, head, runs, proposals, audits, usage, taken, release }: Commit): boolean {
  if (lease !== "hold" || head || release) return false
  return runs.length + proposals.length + audits.length + usage.length + taken.length === 0
}

const lastPosition = (prepared: PreparedStatements, key: number): number =>
  get<[number | null]>(prepared.named("lastPosition"), key)?.[0] ?? 0

/** Whether the events continue the journal without a gap. */
function follows(events: readonly EventRow[], last: number): boolean {
  const [first] = events
  return !first || first[0] === last + 1
}

function insertEvents(prepared: PreparedStatements, key: number, events: readonly EventRow[]): void {
  for (let start = 0; start < events.length; start += EVENTS_AT_ONCE) {
    const count = Math.min(EVENTS_AT_ONCE, events.length - start)
    const values: Value[] = []
    for (let index = start; index < start + count; index++) values.push(key, ...(events[index] as EventRow))
    prepared.insertEvents(count).run(...values)
  }
}

function appendToInbox(prepared: PreparedStatements, { key, id, body, now, deciding }: InboxAppend): number {
  if (deciding) decide(prepared, { key, now }, deciding)
  const row = get<[number]>(prepared.named("arrive"), key)
  if (!row) throw new Refused("moved")
  prepared.named("inbox").run(key, row[0], id, body, now)
  return row[0]
}

function decide(
  prepared: PreparedStatements,
  { key, now }: Pick<Commit, "key" | "now">,
  deciding: DecisionCondition,
): void {
  const { proposal, from, to, by } = deciding
  const { changes } =
    from === "expired"
      ? prepared.named("decideExpired").run(to, by, now, proposal, key, now)
      : prepared.named("decide").run(to, by, now, proposal, key, from, now)
  if (changes === 0) throw new Refused("decided")
}

const get = <Row>(statement: StatementSync, ...values: Value[]) => statement.get(...values) as Row | undefined
