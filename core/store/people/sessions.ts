import type { Page } from "../../protocol/answers.ts"
import { failure } from "../../protocol/errors.ts"
import { newId, type SessionId, type UserId } from "../../protocol/ids.ts"
import type { PageQuery } from "../../protocol/requests.ts"
import type { Scope, SessionView } from "../../protocol/account/sign-in.ts"
import type { Engine } from "../engine/engine.ts"
import { newestFirst } from "../engine/newest-first.ts"
import { type Known, type KnownRow, type PersonRecord, toKnown, toScopes } from "./people.ts"
import { secretHash, newSecret } from "./hashed-secret.ts"
import { toTime } from "../engine/row-values.ts"

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const LINK_MS = 15 * MINUTE
/** How long a session lasts after its last use. */
export const SESSION_MS = 30 * DAY
/** An active session is extended once a day, not with each request. */
const RENEW_MS = DAY

/** Browser sessions, and the sign-in links that start them. */
export class SqlSessions {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /**
   * Creates the secret of a link that signs a person in once, within a quarter of an hour. `issuer`: who vouched for
   * the person.
   */
  async createLink(
    { id }: Pick<PersonRecord, "id">,
    granted: readonly Scope[],
    now: number,
    issuer: string | null = null,
  ): Promise<string> {
    const secret = newSecret(id)
    const sql =
      "INSERT INTO sign_in_link (hash, person, scopes, expires_at, issuer) SELECT ?, key, ?, ?, ? FROM person WHERE id = ?"
    const values = [secretHash(secret), granted.join(" "), now + LINK_MS, issuer, id]
    const insert = { sql, values, mustChange: true }
    const tidy = { sql: "DELETE FROM sign_in_link WHERE expires_at <= ?", values: [now] }
    const outcome = await this.#engine.change({ type: "statements", statements: [tidy, insert] })
    if (!outcome.ok) throw failure("not_found")
    return secret
  }

  /**
   * Consumes a link and starts a session in one commit; undefined if the link is invalid. Of racing uses one wins: the
   * loser's DELETE finds no row, which undoes its session.
   */
  async signIn(
    link: string,
    browser: string | null,
    now: number,
  ): Promise<{ secret: string; pageSecret: string } | undefined> {
    const find = `SELECT p.id FROM sign_in_link l JOIN person p ON p.key = l.person WHERE l.hash = ? AND l.expires_at > ?`
    const [person] = await this.#engine.query<{ id: UserId }>(find, [secretHash(link), now])
    if (!person) return undefined
    const [secret, pageSecret] = [newSecret(person.id), newSecret(person.id)]
    const begin = {
      sql: `INSERT INTO session (id, person, hash, page_hash, scopes, browser, created_at, expires_at, issuer)
        SELECT ?, person, ?, ?, scopes, ?, ?, ?, issuer FROM sign_in_link WHERE hash = ? AND expires_at > ?`,
      values: [
        ...[newId("sess", person.id, now), secretHash(secret), secretHash(pageSecret), browser, now, now + SESSION_MS],
        ...[secretHash(link), now],
      ],
      mustChange: true,
    }
    const use = { sql: "DELETE FROM sign_in_link WHERE hash = ?", values: [secretHash(link)], mustChange: true }
    const tidy = { sql: "DELETE FROM session WHERE expires_at <= ? AND revoked_at IS NULL", values: [now] }
    const outcome = await this.#engine.change({ type: "statements", statements: [begin, use, tidy] })
    return outcome.ok ? { secret, pageSecret } : undefined
  }

  /**
   * The session of these secrets; undefined if it is unknown or over, `half` if only the page's secret does not match.
   * Using a session extends it.
   */
  async bySecrets(
    { secret, pageSecret }: SessionSecrets,
    now: number,
  ): Promise<{ known: Known; renewed: boolean } | "half" | undefined> {
    const sql = `SELECT p.id, coalesce(p.called, p.name) AS name, s.id AS session, s.page_hash, s.scopes, s.created_at, s.expires_at FROM session s JOIN person p ON p.key = s.person
      WHERE s.hash = ? AND s.revoked_at IS NULL AND s.expires_at > ?`
    type Row = KnownRow & { session: SessionId; page_hash: string | null; created_at: number; expires_at: number }
    const [row] = await this.#engine.query<Row>(sql, [secretHash(secret), now])
    if (!row) return undefined
    if (pageSecret === undefined || row.page_hash !== secretHash(pageSecret)) return "half"
    const renewed = row.expires_at < now + SESSION_MS - RENEW_MS
    const expiresAt = renewed ? now + SESSION_MS : row.expires_at
    if (renewed) {
      const renew = { sql: "UPDATE session SET expires_at = ? WHERE id = ?", values: [expiresAt, row.session] }
      await this.#engine.change({ type: "statements", statements: [renew] })
    }
    const credential = { type: "session", id: row.session, expiresAt, signedInAt: row.created_at } as const
    return { known: toKnown(row, credential), renewed }
  }

  list(user: UserId, page: PageQuery, now: number): Promise<Page<SessionView>> {
    return newestFirst<SessionRow, SessionView>(this.#engine, page, {
      select: `SELECT x.id, x.scopes, x.browser, x.created_at, x.expires_at FROM session x
        WHERE x.person = (SELECT key FROM person WHERE id = ?) AND x.revoked_at IS NULL AND x.expires_at > ?`,
      values: [user, now],
      toItem: ({ id, scopes, browser, created_at, expires_at }) => {
        return { id, scopes: toScopes(scopes), browser, createdAt: toTime(created_at), expiresAt: toTime(expires_at) }
      },
    })
  }

  /** Throws `not_found` if it does not exist, is over, or belongs to another person. */
  async revoke(user: UserId, id: SessionId, now: number): Promise<void> {
    const sql = `UPDATE session SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL AND expires_at > ?
      AND person = (SELECT key FROM person WHERE id = ?)`
    const revoke = { sql, values: [now, id, now, user], mustChange: true }
    const outcome = await this.#engine.change({ type: "statements", statements: [revoke] })
    if (!outcome.ok) throw failure("not_found")
  }

  /**
   * Revokes the person's sessions from this issuer that have more scopes than it grants now, and returns them. Sessions
   * from local links are not affected.
   */
  async revokeBeyond(user: UserId, { issuer, scopes }: VouchedScopes, now: number): Promise<SessionId[]> {
    const sql = `SELECT id, scopes FROM session WHERE person = (SELECT key FROM person WHERE id = ?) AND issuer = ?
      AND revoked_at IS NULL AND expires_at > ?`
    const rows = await this.#engine.query<{ id: SessionId; scopes: string }>(sql, [user, issuer, now])
    const excessive = rows.filter((row) => toScopes(row.scopes).some((scope) => !scopes.includes(scope)))
    const revoke = "UPDATE session SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"
    const statements = excessive.map(({ id }) => ({ sql: revoke, values: [now, id] }))
    if (statements.length > 0) await this.#engine.change({ type: "statements", statements })
    return excessive.map(({ id }) => id)
  }

  /** Signs out. A session that is already over stays as it is. */
  async end(secret: string): Promise<void> {
    const sql = "DELETE FROM session WHERE hash = ? AND revoked_at IS NULL"
    await this.#engine.change({ type: "statements", statements: [{ sql, values: [secretHash(secret)] }] })
  }
}

/** A browser proves a session with its cookie and with a secret that the page stores for its origin. */
export interface SessionSecrets {
  readonly secret: string
  readonly pageSecret?: string | undefined
}

/** The scopes that an issuer grants a person. */
interface VouchedScopes {
  readonly issuer: string
  readonly scopes: readonly Scope[]
}

interface SessionRow {
  readonly id: SessionId
  readonly scopes: string
  readonly browser: string | null
  readonly created_at: number
  readonly expires_at: number
}
