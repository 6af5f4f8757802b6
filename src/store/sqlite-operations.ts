import type { DatabaseSync, StatementSync } from "node:sqlite"
import type { EventRow } from "./event-rows.ts"
import type { Arrival, Commit, Committed, Deciding, Operation, Outcome, Refusal, Statements } from "./operations.ts"
import { prepareStatements, type Statements as Prepared } from "./sqlite-statements.ts"

type Value = string | number | null

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
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  #prepared: Prepared | undefined
  readonly #others = new Map<string, StatementSync>()

  constructor(db: DatabaseSync) {
    this.#db = db
    this.#begin = db.prepare("BEGIN IMMEDIATE")
    this.#commit = db.prepare("COMMIT")
  }

  /** All operations in one commit. One that is refused or fails undoes only itself. */
  applyAll(operations: readonly Operation[]): (Outcome | Error)[] {
    this.#begin.run()
    try {
      const [only] = operations
      const outcomes =
        only && operations.length === 1 ? [this.#apply(only)] : operations.map((each) => this.#applyAlone(each))
      this.#commit.run()
      return outcomes
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK")
      if (error instanceof Refused) return [{ ok: false, refused: error.why }]
      throw error
    }
  }

  #applyAlone(operation: Operation): Outcome | Error {
    this.#db.exec("SAVEPOINT operation")
    try {
      const outcome = this.#apply(operation)
      this.#db.exec("RELEASE operation")
      return outcome
    } catch (error) {
      // A full disk ends the whole transaction, not only this operation: then nobody may be told that it was done.
      if (!this.#db.isTransaction) throw error
      this.#db.exec("ROLLBACK TO operation; RELEASE operation")
      return error instanceof Refused ? { ok: false, refused: error.why } : (error as Error)
    }
  }

  #apply(operation: Operation): Outcome {
    if (operation.type === "statements") return { ok: true, rows: this.#statements(operation) }
    this.#prepared ??= prepareStatements(this.#db)
    if (operation.type === "arrival") return { ok: true, arrived: arrive(this.#prepared, operation) }
    return { ok: true, committed: commit(this.#prepared, operation) }
  }

  #statements({ statements }: Statements): Record<string, unknown>[][] {
    return statements.map(({ sql, values, mustChange }) => {
      const rows = this.#prepare(sql).all(...(values as Value[])) as Record<string, unknown>[]
      if (mustChange && rows.length === 0 && this.#prepare("SELECT changes() AS n").get()?.n === 0)
        throw new Refused("moved")
      return rows
    })
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#others.get(sql)
    if (!statement) this.#others.set(sql, (statement = this.#db.prepare(sql)))
    return statement
  }
}

function commit(prepared: Prepared, operation: Commit): Committed {
  if (operation.deciding) decide(prepared, operation, operation.deciding)
  const committed = takeLease(prepared, operation)
  const { key } = committed
  insertEvents(prepared, key, operation.events)
  if (operation.run) prepared.run.run(key, ...operation.run)
  for (const proposal of operation.proposals) prepared.proposal.run(key, ...proposal)
  for (const usage of operation.usage) prepared.usage.run(...usage)
  for (const number of operation.taken) prepared.take.run(key, number)
  return committed
}

function takeLease(prepared: Prepared, operation: Commit): Committed {
  if (operation.lease === "create") return create(prepared, operation)
  if (operation.lease === "claim") return claim(prepared, operation)
  const { key, node, fence, seen, now, head, release } = operation
  const row = get<[arrivals: number, position: number | null]>(prepared.lease, key, node, fence)
  if (!row || !follows(operation.events, row[1])) throw new Refused("lost")
  const released = release && row[0] === seen
  if (head) {
    const { agent, model, provider, mode, title, status } = head
    const [owner, read] = released ? [null, seen] : [node, null]
    prepared.change.run(agent, model, provider, mode, title, status, now, owner, read, key)
  }
  return { key, fence, arrivals: row[0], released }
}

function claim(prepared: Prepared, operation: Commit): Committed {
  const { key, node, fence, seen, now, head } = operation
  if (!head) throw new Error("a claim needs the row of its conversation")
  const { agent, model, provider, mode, title, status } = head
  const letGo = operation.release ? 1 : 0
  const row = get<[fence: number, arrivals: number, owner: string | null]>(
    prepared.claim,
    ...[agent, model, provider, mode, title, status, now, letGo, seen, node, letGo, seen],
    ...[key, fence, operation.withInbox ? 1 : 0, seen, node, now],
  )
  if (!row) throw new Refused(whyNotClaimed(prepared, operation))
  const [last] = get<[number | null]>(prepared.lastPosition, key) ?? [null]
  if (!follows(operation.events, last)) throw new Refused("moved")
  return { key, fence: row[0], arrivals: row[1], released: row[2] === null }
}

function create(prepared: Prepared, { born, head, node, now, release }: Commit): Committed {
  if (!born || !head) throw new Error("a new conversation needs its row")
  const { agent, model, provider, mode, title, status } = head
  const owner = release ? null : node
  const row = get<[key: number]>(
    prepared.create,
    ...[agent, model, provider, mode, title, status, now, born.id, born.person, owner, now],
  )
  if (!row) throw new Refused("moved")
  return { key: row[0], fence: 1, arrivals: 0, released: release }
}

function whyNotClaimed({ whoHolds }: Prepared, { key, fence, node, now }: Commit): Refusal {
  const row = get<[fence: number, owner: string | null, alive: number]>(whoHolds, now, key)
  return row && row[0] === fence && row[1] !== null && row[1] !== node && row[2] === 1 ? "busy" : "moved"
}

/** Whether events stand directly behind the last one there is: a journal has no gaps. */
function follows(events: readonly EventRow[], last: number | null): boolean {
  const [first] = events
  return !first || first[0] === (last ?? 0) + 1
}

function insertEvents({ events: inserts }: Prepared, key: number, events: readonly EventRow[]): void {
  for (let start = 0; start < events.length; start += inserts.length) {
    const count = Math.min(inserts.length, events.length - start)
    const values: Value[] = []
    for (let index = start; index < start + count; index++) values.push(key, ...(events[index] as EventRow))
    inserts[count - 1]?.run(...values)
  }
}

function arrive(prepared: Prepared, { key, id, body, now, deciding }: Arrival): number {
  if (deciding) decide(prepared, { key, now }, deciding)
  const row = get<[number]>(prepared.arrive, key)
  if (!row) throw new Refused("moved")
  prepared.inbox.run(key, row[0], id, body, now)
  return row[0]
}

function decide(prepared: Prepared, { key, now }: Pick<Commit, "key" | "now">, deciding: Deciding): void {
  const { proposal, from, to, by } = deciding
  if (!get(prepared.decide, to, by, now, proposal, key, from, now)) throw new Refused("decided")
}

const get = <Row>(statement: StatementSync, ...values: Value[]) => statement.get(...values) as Row | undefined
