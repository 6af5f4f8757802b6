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
import { KeptStatements } from "./kept-statements.ts"
import { EVENTS_AT_ONCE, PreparedStatements } from "./statements.ts"

type Value = string | number | null

/** Said once in the life of a database: not kept prepared, or whoever made a new one would hold two hundred of these for good. */
const MAKES = /^(?:CREATE|ALTER|DROP)\s/

/** A refusal travels as an exception inside, so that everything the operation has done so far is undone with it. */
class Refused extends Error {
  readonly why: Refusal

  constructor(why: Refusal) {
    super(why)
    this.why = why
  }
}

/** Carries out operations on one SQLite connection. */
export class SqliteOperations {
  readonly #db: DatabaseSync
  /** A row that breaks a rule ends its transaction: SQLite need not remember what the statement has changed so far. */
  readonly #ending: PreparedStatements
  /** A row that breaks a rule ends its statement alone. */
  readonly #careful: PreparedStatements
  readonly #others: KeptStatements
  /**
   * Where the journals end that were last appended to from here, by conversation. Right for as long as the lease is: who
   * else appends has taken it over first.
   */
  readonly #ends = new Map<number, number>()

  constructor(db: DatabaseSync) {
    this.#db = db
    this.#ending = new PreparedStatements(db, "ROLLBACK")
    this.#careful = new PreparedStatements(db, "ABORT")
    this.#others = new KeptStatements(db)
  }

  /** All operations in one commit. One that is refused or fails undoes only itself. */
  applyAll(operations: readonly Operation[]): (OperationOutcome | Error)[] {
    const [only] = operations
    if (only && operations.length === 1) {
      const appended = this.#append(this.#ending, only) // one statement, and a statement is a transaction of its own
      return [appended ?? this.#applyAlone(only)]
    }
    try {
      return this.#inOneCommit(() => operations.map((each) => this.#applyTo(this.#ending, each)))
    } catch (error) {
      if (isLocked(error)) throw error
      // Nothing was done. Once more, so that each can be undone by itself: that alone takes a tenth of a group's time.
      return this.#inOneCommit(() => operations.map((each) => this.#applyAmongOthers(each)))
    }
  }

  #applyAlone(operation: Operation): OperationOutcome {
    try {
      return this.#inOneCommit(() => this.#apply(this.#ending, operation))
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
      this.#ends.clear() // some of them tell of what has not been done
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK")
      throw error
    }
  }

  #applyAmongOthers(operation: Operation): OperationOutcome | Error {
    const appended = this.#append(this.#careful, operation)
    if (appended) return appended
    this.#prepare("SAVEPOINT operation").run()
    try {
      const outcome = this.#apply(this.#careful, operation)
      this.#prepare("RELEASE operation").run()
      return outcome
    } catch (error) {
      // A full disk ends the whole transaction, not only this operation: then nobody may be told that it was done.
      if (!this.#db.isTransaction) throw error
      this.#db.exec("ROLLBACK TO operation; RELEASE operation")
      return error instanceof Refused ? { ok: false, refused: error.why } : (error as Error)
    }
  }

  /**
   * Most commits only add events under a lease that is held. Then the insert itself asks for the lease. Undefined where
   * it is something else, or where the lease has changed: the long way finds out how.
   */
  #append(prepared: PreparedStatements, operation: Operation): OperationOutcome | undefined {
    if (operation.type !== "commit" || !onlyAppends(operation)) return undefined
    const committed = appendUnderLease(prepared, operation, this.#ends.get(operation.key))
    if (!committed) return undefined
    this.#ends.set(operation.key, operation.after + operation.events.length)
    return { ok: true, committed }
  }

  #applyTo(prepared: PreparedStatements, operation: Operation): OperationOutcome {
    return this.#append(prepared, operation) ?? this.#apply(prepared, operation)
  }

  #apply(prepared: PreparedStatements, operation: Operation): OperationOutcome {
    if (operation.type === "statements") return { ok: true, rows: this.#statements(operation) }
    if (operation.type === "inbox") return { ok: true, arrived: appendToInbox(prepared, operation) }
    const committed = commit(prepared, operation, this.#ends.get(operation.key))
    const last = operation.events.at(-1)
    if (last && !committed.released) this.#ends.set(committed.key, last[0])
    else this.#ends.delete(committed.key)
    return { ok: true, committed }
  }

  #statements({ statements }: Statements): Record<string, unknown>[][] {
    return statements.map(({ sql, values, mustChange }) => {
      if (MAKES.test(sql)) {
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
    return this.#others.prepare(sql)
  }
}

function commit(prepared: PreparedStatements, operation: Commit, end: number | undefined): Committed {
  if (operation.deciding) decide(prepared, operation, operation.deciding)
  const appended = appendUnderLease(prepared, operation, end)
  const committed = appended ?? takeLease(prepared, operation, end)
  const { key } = committed
  if (!appended) insertEvents(prepared, key, operation.events)
  for (const run of operation.runs) prepared.the("run").run(key, ...run)
  for (const proposal of operation.proposals) prepared.the("proposal").run(key, ...proposal)
  for (const audit of operation.audits) prepared.the("audit").run(...audit)
  for (const usage of operation.usage) prepared.the("usage").run(...usage)
  for (const number of operation.taken) prepared.the("take").run(key, number)
  return committed
}

/**
 * Adds events by a statement that asks for the lease itself. Undefined where the row of the conversation changes too, where it
 * is not known where the journal ends, and where the lease has changed: then nothing is added.
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

/** `end`: where the journal ends, if that is known without a look. */
function takeLease(prepared: PreparedStatements, operation: Commit, end: number | undefined): Committed {
  if (operation.lease === "create") return create(prepared, operation)
  if (operation.lease === "claim") return claim(prepared, operation)
  const { key, node, fence, seen, head, release } = operation
  if (head && end !== undefined && follows(operation.events, end) && change(prepared, operation, seen))
    return { key, fence, arrivals: seen, released: release }
  const row = get<[arrivals: number]>(prepared.the("lease"), key, node, fence)
  if (!row || !follows(operation.events, end ?? lastPosition(prepared, key))) throw new Refused("lost")
  if (operation.taken.length > 0 && row[0] !== seen) throw new Refused("unread")
  if (head) change(prepared, operation, row[0])
  return { key, fence, arrivals: row[0], released: release && row[0] === seen }
}

/** Whether the lease is still held and so much has arrived; then the row of the conversation says what the fold says. */
function change(
  prepared: PreparedStatements,
  { key, node, fence, seen, now, head, release }: Commit,
  arrivals: number,
) {
  if (!head) return false
  const { agent, model, provider, mode, title, status, device, connection, settings } = head
  const [owner, read] = release && arrivals === seen ? [null, seen] : [node, null]
  const columns = [agent, model, provider, mode, title, status, device, connection, settings, now, owner, read]
  return prepared.the("change").run(...columns, key, node, fence, arrivals).changes === 1
}

function claim(prepared: PreparedStatements, operation: Commit): Committed {
  const { key, node, fence, seen, now, head, release } = operation
  if (!head) throw new Error("a claim needs the row of its conversation")
  const { agent, model, provider, mode, title, status, device, connection, settings } = head
  const columns = [agent, model, provider, mode, title, status, device, connection, settings, now]
  if (!operation.withInbox) {
    // All that is asked of the row is that it is as it was read: what it says then is known, and need not be returned.
    const [owner, read] = release ? [null, seen] : [node, null]
    const claimed = prepared.the("claimAsRead").run(...columns, owner, read, key, fence, seen, node, operation.after)
    if (claimed.changes === 0) throw new Refused(whyNotClaimed(prepared, operation))
    return { key, fence: fence + 1, arrivals: seen, released: release }
  }
  const letGo = release ? 1 : 0
  const row = get<[fence: number, arrivals: number, owner: string | null, last: number | null]>(
    prepared.the("claim"),
    ...[...columns, letGo, seen, node, letGo, seen],
    ...[key, fence, node],
  )
  if (!row) throw new Refused(whyNotClaimed(prepared, operation))
  // Also where it adds nothing: what it says about the conversation would be old.
  if (operation.after !== (row[3] ?? 0)) throw new Refused("moved")
  return { key, fence: row[0], arrivals: row[1], released: row[2] === null }
}

function create(prepared: PreparedStatements, { born, head, node, now, release }: Commit): Committed {
  if (!born || !head) throw new Error("a new conversation needs its row")
  const { agent, model, provider, mode, title, status, device, connection, settings } = head
  const owner = release ? null : node
  const columns = [agent, model, provider, mode, title, status, device, connection, settings, now]
  // Asked for by RETURNING the key would go through a table of its own.
  const made = prepared.the("create").run(...columns, born.id, born.person, owner, now)
  if (made.changes === 0) throw new Refused("moved")
  return { key: Number(made.lastInsertRowid), fence: 1, arrivals: 0, released: release }
}

function whyNotClaimed(prepared: PreparedStatements, { key, fence, node }: Commit): Refusal {
  const row = get<[fence: number, owner: string | null, alive: number]>(prepared.the("whoHolds"), key)
  return row && row[0] === fence && row[1] !== null && row[1] !== node && row[2] === 1 ? "busy" : "moved"
}

function onlyAppends({ lease, head, runs, proposals, audits, usage, taken, release }: Commit): boolean {
  if (lease !== "hold" || head || release) return false
  return runs.length + proposals.length + audits.length + usage.length + taken.length === 0
}

const lastPosition = (prepared: PreparedStatements, key: number): number =>
  get<[number | null]>(prepared.the("lastPosition"), key)?.[0] ?? 0

/** Whether events stand directly behind the last one there is: a journal has no gaps. */
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
  const row = get<[number]>(prepared.the("arrive"), key)
  if (!row) throw new Refused("moved")
  prepared.the("inbox").run(key, row[0], id, body, now)
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
      ? prepared.the("decideExpired").run(to, by, now, proposal, key, now)
      : prepared.the("decide").run(to, by, now, proposal, key, from, now)
  if (changes === 0) throw new Refused("decided")
}

const get = <Row>(statement: StatementSync, ...values: Value[]) => statement.get(...values) as Row | undefined
