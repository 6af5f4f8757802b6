import { randomBytes } from "node:crypto"
import { failure } from "../../protocol/errors.ts"
import type { CallId, ConnectionId, UserId } from "../../protocol/ids.ts"
import type { Replacement } from "../../engine/stored-files.ts"
import type { Engine } from "../engine/engine.ts"
import { replaceBytes } from "../files/naming.ts"

/** A try to change a database, as far as it has come. */
export interface StoredAttempt {
  readonly connectionId: ConnectionId
  /** How the database can be asked about it, and what to answer where it was done; undefined before it was told to commit. */
  readonly recorded: { readonly mark: string; readonly answer: string } | undefined
}

/** What a try is known by from now on; `replaces` where it is done by giving a file other bytes. */
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

interface Whose {
  readonly user: UserId
  readonly connectionId: ConnectionId
}

const newName = () => randomBytes(16).toString("hex")

/**
 * One row for each call that changes a database of a person. Whoever tries holds it; only the holder may record that a
 * commit is sent, and only what was found not to have happened is set free for another try, by whoever found it. So a
 * process that was taken for dead and wakes up can do nothing any more, not even begin, and no call is done twice.
 */
export class StatementAttempts {
  readonly #engine: Engine
  readonly #now: () => number

  constructor(engine: Engine, now: () => number) {
    this.#engine = engine
    this.#now = now
  }

  /**
   * The name of the holder. A second try needs what `free` has answered: without it, a first one that was late would begin
   * after another process has said that it was not done. Throws `outcome_unknown` where it may not begin.
   */
  async begin(callId: CallId, { user, connectionId }: Whose, ticket?: string): Promise<string> {
    const holder = newName()
    const first = `INSERT INTO statement_attempt (call_id, person, connection_id, holder, mark, answer, at)
      VALUES (?, ?, ?, ?, NULL, NULL, ?) ON CONFLICT (call_id) DO NOTHING`
    const next = "UPDATE statement_attempt SET holder = ?, connection_id = ?, at = ? WHERE call_id = ? AND holder = ?"
    const began =
      ticket === undefined
        ? await this.#change(first, [callId, user, connectionId, holder, this.#now()])
        : await this.#change(next, [holder, connectionId, this.#now(), callId, ticket])
    if (!began) throw failure("outcome_unknown", { problem: "Another try of it is at work, or was." })
    return holder
  }

  /**
   * Durable when it returns. Throws where the try was given up on behalf of its holder. Where it replaces the bytes of a
   * file, that is done in the same change, so that what is recorded is done: `moved`, and neither, where others came first.
   */
  async record(callId: CallId, holder: string, recorded: NewMark): Promise<"moved" | undefined> {
    const { mark, answer, replaces } = recorded
    const sql = "UPDATE statement_attempt SET mark = ?, answer = ? WHERE call_id = ? AND holder = ? AND mark IS NULL"
    const own = { sql, values: [mark, answer, callId, holder], mustChange: true }
    const statements = [own, ...(replaces ? replaceBytes(replaces) : [])]
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
   * Sets a call free that has not been done: its try had recorded this mark, or none. Answers what the next try begins with;
   * undefined where that is not so any more, because whoever holds it has gone on meanwhile.
   */
  async free(callId: CallId, { user, connectionId }: Whose, mark: string | undefined): Promise<string | undefined> {
    const ticket = newName()
    // The ticket takes the holder's place, so that what the last one would record finds nothing to write to.
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
