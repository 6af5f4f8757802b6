import type { Page } from "../../protocol/answers.ts"
import type { SharedRunView } from "../../protocol/conversation/conversation.ts"
import { failure } from "../../protocol/errors.ts"
import { newId, type RunId, type SharedRunId, type UserId } from "../../protocol/ids.ts"
import type { PageQuery } from "../../protocol/requests.ts"
import type { Engine } from "../engine/engine.ts"
import { newestFirst } from "../engine/newest-first.ts"
import { toTime } from "../engine/row-values.ts"
import { newSecret, secretHash } from "./hashed-secret.ts"

/** The maximum active links of a person. */
export const MAX_SHARED_RUNS = 100

interface SharedRunRow {
  readonly id: SharedRunId
  readonly run: RunId
  readonly created_at: number
  readonly expires_at: number | null
}

/**
 * Links to runs that people share. A link is found by the hash of its secret, and deleted with its conversation or
 * person.
 */
export class SqlSharedRuns {
  readonly #engine: Engine
  readonly #now: () => number

  constructor(engine: Engine, now: () => number) {
    this.#engine = engine
    this.#now = now
  }

  /** Undefined if the person has no such run. Throws `too_many` at the limit. */
  async create(
    user: UserId,
    run: RunId,
    expiresAt: number | null,
  ): Promise<{ readonly view: SharedRunView; readonly secret: string } | undefined> {
    const now = this.#now()
    // Separately: together with the next statements it could wait for conversations that are being erased.
    const tidy = { sql: "DELETE FROM shared_run WHERE expires_at <= ?", values: [now] }
    await this.#engine.change({ type: "statements", statements: [tidy] })
    const [id, secret] = [newId("shr", user, now), newSecret(user)]
    const find =
      "SELECT c.key FROM conversation c JOIN person p ON p.key = c.person JOIN run r ON r.conversation = c.key"
    // Locks the conversation without changing it: if it is being erased, the link is erased with it or not created.
    const lock = {
      sql: `UPDATE conversation SET seen = seen WHERE key IN (${find} WHERE r.id = ? AND p.id = ?)`,
      values: [run, user],
      mustChange: true,
    }
    const insert = {
      sql: `INSERT INTO shared_run (id, hash, person, conversation, run, created_at, expires_at)
        SELECT ?, ?, c.person, c.key, r.id, ?, ? FROM run r JOIN conversation c ON c.key = r.conversation
        WHERE r.id = ? AND (SELECT count(*) FROM shared_run x WHERE x.person = c.person) < ${MAX_SHARED_RUNS}`,
      values: [id, secretHash(secret), now, expiresAt, run],
      mustChange: true,
    }
    const { ok } = await this.#engine.change({ type: "statements", statements: [lock, insert] })
    if (ok) return { view: toView({ id, run, created_at: now, expires_at: expiresAt }), secret }
    if (await this.#hasRoom(user)) return undefined
    const then = "Take some back first: Settings, Shared runs, or `pawl show --shares` and `--unshare`."
    throw failure("too_many", { what: "links to runs", most: MAX_SHARED_RUNS, then })
  }

  async #hasRoom(user: UserId): Promise<boolean> {
    const sql = "SELECT count(*) AS links FROM shared_run WHERE person = (SELECT key FROM person WHERE id = ?)"
    const [row] = await this.#engine.query<{ links: number }>(sql, [user])
    return Number(row?.links) < MAX_SHARED_RUNS
  }

  list(user: UserId, page: PageQuery): Promise<Page<SharedRunView>> {
    return newestFirst<SharedRunRow, SharedRunView>(this.#engine, page, {
      select: `SELECT x.id, x.run, x.created_at, x.expires_at FROM shared_run x
        WHERE x.person = (SELECT key FROM person WHERE id = ?) AND (x.expires_at IS NULL OR x.expires_at > ?)`,
      values: [user, this.#now()],
      toItem: toView,
    })
  }

  /** False if it does not exist, was revoked before, or belongs to another person. */
  async revoke(user: UserId, id: SharedRunId): Promise<boolean> {
    const sql = "DELETE FROM shared_run WHERE id = ? AND person = (SELECT key FROM person WHERE id = ?)"
    const revoke = { sql, values: [id, user], mustChange: true }
    return (await this.#engine.change({ type: "statements", statements: [revoke] })).ok
  }

  /** The run of a link and its person; undefined if the link is unknown, expired or revoked. */
  async find(secret: string): Promise<{ readonly user: UserId; readonly run: RunId } | undefined> {
    const sql = `SELECT p.id AS "user", s.run FROM shared_run s JOIN person p ON p.key = s.person
      WHERE s.hash = ? AND (s.expires_at IS NULL OR s.expires_at > ?)`
    const [row] = await this.#engine.query<{ user: UserId; run: RunId }>(sql, [secretHash(secret), this.#now()])
    return row
  }
}

const toView = ({ id, run, created_at, expires_at }: SharedRunRow): SharedRunView => ({
  id,
  runId: run,
  createdAt: toTime(created_at),
  expiresAt: expires_at === null ? null : toTime(expires_at),
})
