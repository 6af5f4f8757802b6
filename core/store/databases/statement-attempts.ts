import { randomBytes } from "node:crypto"
import { failure } from "../../protocol/errors.ts"
import type { CallId, ConnectionId, UserId } from "../../protocol/ids.ts"
import type { Replacement } from "../../engine/stored-files.ts"
import type { Engine } from "../engine/engine.ts"
import { replaceBytes } from "../files/naming.ts"

/** The progress of an attempt to change a database. */
export interface StoredAttempt {
  readonly connectionId: ConnectionId
  /**
   * A mark with which the database can be asked for the outcome, and the answer if it was committed; undefined before
   * the commit is sent.
   */
  readonly recorded: { readonly mark: string; readonly answer: string } | undefined
}

/** The mark of an attempt; `replaces` if it replaces the bytes of a file. */
interface NewMark {
  readonly mark: string
  readonly answer: string
  readonly replaces?: Replacement | undefined
}

interface Row {
  readonly connection_id: ConnectionId
  readonly mark: string | null
  readonly answer: string | null
}

interface CallTarget {
  readonly user: UserId
  readonly connectionId: ConnectionId
}

const newName = () => randomBytes(16).toString("hex")

/**
 * One row per call that changes a person's database. An attempt owns the row. Only the owner may record that a commit
 * is sent, and only an attempt that provably did not happen is released for another one. So a process that was
 * considered failed can do nothing when it continues, and no call is executed twice.
 */
export class StatementAttempts {
  readonly #engine: Engine
  readonly #now: () => number

  constructor(engine: Engine, now: () => number) {
    this.#engine = engine
    this.#now = now
  }

  /**
   * Returns the owner's name. A second attempt needs the ticket of `free`; without it, a delayed first attempt could
   * start after another process has reported that it did not happen. Throws `outcome_unknown` if it may not start.
   */
  async begin(callId: CallId, { user, connectionId }: CallTarget, ticket?: string): Promise<string> {
    const holder = newName()
    const first = `INSERT INTO statement_attempt (call_id, person, connection_id, holder, mark, answer, at)
      VALUES (?, ?, ?, ?, NULL, NULL, ?) ON CONFLICT (call_id) DO NOTHING`
    const next = "UPDATE statement_attempt SET holder = ?, connection_id = ?, at = ? WHERE call_id = ? AND holder = ?"
    const isStarted =
      ticket === undefined
        ? await this.#change(first, [callId, user, connectionId, holder, this.#now()])
        : await this.#change(next, [holder, connectionId, this.#now(), callId, ticket])
    if (!isStarted) throw failure("outcome_unknown", { problem: "Another try of it is at work, or was." })
    return holder
  }

  /**
   * Durable when it returns. Throws if the attempt was given up on behalf of its owner. If it replaces the bytes of a
   * file, that happens in the same change: `moved`, without any change, if another write came first.
   */
  async record(callId: CallId, holder: string, recorded: NewMark): Promise<"moved" | undefined> {
    const { mark, answer, replaces } = recorded
    const sql = "UPDATE statement_attempt SET mark = ?, answer = ? WHERE call_id = ? AND holder = ? AND mark IS NULL"
    const recordMark = { sql, values: [mark, answer, callId, holder], mustChange: true }
    const statements = [recordMark, ...(replaces ? replaceBytes(replaces) : [])]
    if ((await this.#engine.change({ type: "statements", statements })).ok) return undefined
    if (replaces && (await this.#isHeld(callId, holder))) return "moved"
    throw failure("outcome_unknown", { problem: "Another process has taken this over." })
  }

  async find(callId: CallId, user: UserId): Promise<StoredAttempt | undefined> {
    const sql = "SELECT connection_id, mark, answer FROM statement_attempt WHERE call_id = ? AND person = ?"
    const [row] = await this.#engine.query<Row>(sql, [callId, user])
    if (!row) return undefined
    const { connection_id: connectionId, mark, answer } = row
    return { connectionId, recorded: mark === null ? undefined : { mark, answer: answer ?? "" } }
  }

  /**
   * Releases a call that was not executed: its attempt recorded this mark, or none. Returns the ticket of the next
   * attempt; undefined if the owner has made progress.
   */
  async free(
    callId: CallId,
    { user, connectionId }: CallTarget,
    mark: string | undefined,
  ): Promise<string | undefined> {
    const ticket = newName()
    // The ticket replaces the owner, so that the previous attempt cannot record anything.
    const sql = `INSERT INTO statement_attempt (call_id, person, connection_id, holder, mark, answer, at)
      VALUES (?, ?, ?, ?, NULL, NULL, ?) ON CONFLICT (call_id) DO UPDATE SET holder = excluded.holder, mark = NULL,
      answer = NULL WHERE statement_attempt.mark ${mark === undefined ? "IS NULL" : "= ?"}`
    const values = [callId, user, connectionId, ticket, this.#now(), ...(mark === undefined ? [] : [mark])]
    return (await this.#change(sql, values)) ? ticket : undefined
  }

  async #isHeld(callId: CallId, holder: string): Promise<boolean> {
    const sql = "SELECT 1 AS held FROM statement_attempt WHERE call_id = ? AND holder = ? AND mark IS NULL"
    return (await this.#engine.query(sql, [callId, holder])).length > 0
  }

  async #change(sql: string, values: readonly unknown[]): Promise<boolean> {
    const statements = [{ sql, values: values as unknown[], mustChange: true }]
    return (await this.#engine.change({ type: "statements", statements })).ok
  }
}
