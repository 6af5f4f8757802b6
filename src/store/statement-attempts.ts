import { randomBytes } from "node:crypto"
import { failure } from "../protocol/errors.ts"
import type { CallId, ConnectionId, UserId } from "../protocol/ids.ts"
import type { Engine } from "./engine.ts"

/** A try to change a database, as far as it has come. */
export interface StoredAttempt {
  readonly connectionId: ConnectionId
  /** How the database can be asked about it, and what to answer where it was done; undefined before it was told to commit. */
  readonly recorded: { readonly mark: string; readonly answer: string } | undefined
}

interface Row {
  readonly connection_id: ConnectionId
  readonly holder: string | null
  readonly mark: string | null
  readonly answer: string | null
}

/**
 * One row for each call that changes a database of a person. Whoever tries holds it; only the holder may record that a
 * commit is sent, and only what was found not to have happened is set free for another try. So a process that was taken
 * for dead and wakes up can do nothing any more, and no call is done twice.
 */
export class StatementAttempts {
  readonly #engine: Engine
  readonly #now: () => number

  constructor(engine: Engine, now: () => number) {
    this.#engine = engine
    this.#now = now
  }

  /** The name of the holder. Throws `outcome_unknown` where another try has not been set free. */
  async begin(callId: CallId, whose: { user: UserId; connectionId: ConnectionId }): Promise<string> {
    const holder = randomBytes(16).toString("hex")
    const sql = `INSERT INTO statement_attempt (call_id, person, connection_id, holder, mark, answer, at)
      VALUES (?, ?, ?, ?, NULL, NULL, ?) ON CONFLICT (call_id) DO UPDATE SET holder = excluded.holder,
      connection_id = excluded.connection_id, at = excluded.at WHERE statement_attempt.holder IS NULL`
    const values = [callId, whose.user, whose.connectionId, holder, this.#now()]
    if (!(await this.#change(sql, values)))
      throw failure("outcome_unknown", { problem: "Its first try is still at work." })
    return holder
  }

  /** Durable when it returns. Throws where the try was given up on behalf of its holder. */
  async record(callId: CallId, holder: string, { mark, answer }: { mark: string; answer: string }): Promise<void> {
    const sql = "UPDATE statement_attempt SET mark = ?, answer = ? WHERE call_id = ? AND holder = ? AND mark IS NULL"
    if (!(await this.#change(sql, [mark, answer, callId, holder])))
      throw failure("outcome_unknown", { problem: "Another process has taken this over." })
  }

  async find(callId: CallId, user: UserId): Promise<StoredAttempt | undefined> {
    const sql = "SELECT connection_id, holder, mark, answer FROM statement_attempt WHERE call_id = ? AND person = ?"
    const [row] = await this.#engine.query<Row>(sql, [callId, user])
    if (!row) return undefined
    const { connection_id: connectionId, mark, answer } = row
    return { connectionId, recorded: mark === null ? undefined : { mark, answer: answer ?? "" } }
  }

  /**
   * Sets a call free that has not been done: its try had recorded this mark, or none. False where that is not so any more,
   * because whoever holds it has gone on meanwhile.
   */
  async free(callId: CallId, whose: { user: UserId; connectionId: ConnectionId }, mark: string | undefined) {
    const sql = `INSERT INTO statement_attempt (call_id, person, connection_id, holder, mark, answer, at)
      VALUES (?, ?, ?, NULL, NULL, NULL, ?) ON CONFLICT (call_id) DO UPDATE SET holder = NULL, mark = NULL, answer = NULL
      WHERE statement_attempt.mark ${mark === undefined ? "IS NULL" : "= ?"}`
    const values = [callId, whose.user, whose.connectionId, this.#now(), ...(mark === undefined ? [] : [mark])]
    return this.#change(sql, values)
  }

  async #change(sql: string, values: readonly unknown[]): Promise<boolean> {
    const statements = [{ sql, values: values as unknown[], mustChange: true }]
    return (await this.#engine.change({ type: "statements", statements })).ok
  }
}
