import { newId, type TokenId, type UserId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"
import { newSecret, secretHash } from "./hashed-secret.ts"
import { toScopes } from "./people.ts"

const CODE_MS = 60_000
/** How long an access token is valid, and how long a client may go without renewing it. */
const ACCESS_MS = 60 * 60_000
const GRANT_MS = 30 * 24 * 60 * 60_000
/** A refresh token that was replaced is accepted again for this long, because the answer may have been lost. */
const LOST_ANSWER_MS = 60_000
/** How long a used code is remembered. Using it again means that it was stolen. */
const REMEMBER_USED_MS = 60 * 60_000

/** The values that a code is bound to. A client must know all of them to exchange the code. */
interface CodeBinding {
  readonly client: string
  readonly redirect: string
  readonly challenge: string
  readonly resource: string
}

/** An access token and the refresh token for the next one. */
export interface ExchangedAccess {
  readonly token: string
  readonly seconds: number
  readonly refresh: string
  readonly scopes: string[]
}

/**
 * Authorization codes. A person's consent creates one; the client that asked for it exchanges it once, within a minute.
 */
export class SqlAuthorizationCodes {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  async create(
    grant: CodeBinding & { readonly user: UserId; readonly name: string; readonly scopes: readonly string[] },
    now: number,
  ): Promise<string> {
    const code = newSecret(grant.user)
    const insert = {
      sql: `INSERT INTO authorization_code (hash, person, scopes, name, client, redirect, challenge, resource, expires_at)
        SELECT ?, key, ?, ?, ?, ?, ?, ?, ? FROM person WHERE id = ?`,
      values: [
        ...[secretHash(code), grant.scopes.join(" "), grant.name, ...bindingValues(grant), now + CODE_MS],
        grant.user,
      ],
      mustChange: true,
    }
    const tidy = { sql: "DELETE FROM authorization_code WHERE expires_at <= ?", values: [now - REMEMBER_USED_MS] }
    await this.#engine.change({ type: "statements", statements: [tidy, insert] })
    return code
  }

  /**
   * Marks the code as used and creates the tokens in one commit: a crash leaves both or neither, and of racing uses one
   * wins. If the answer is lost, so are the tokens; the next use of the code revokes them.
   */
  async exchange(
    code: string,
    binding: CodeBinding,
    now: number,
  ): Promise<ExchangedAccess | { reused: TokenId } | undefined> {
    const hash = secretHash(code)
    const find = `SELECT p.id, c.scopes FROM authorization_code c JOIN person p ON p.key = c.person WHERE c.hash = ?`
    const [row] = await this.#engine.query<{ id: UserId; scopes: string }>(find, [hash])
    if (!row) return undefined
    const [id, refresh] = [newId("tok", row.id, now), newSecret(row.id, "pawl_refresh_")]
    const sameBinding = "hash = ? AND client = ? AND redirect = ? AND challenge = ? AND resource = ?"
    const values = [hash, ...bindingValues(binding)]
    const use = {
      sql: `UPDATE authorization_code SET token = ? WHERE ${sameBinding} AND token IS NULL AND expires_at > ?`,
      values: [id, ...values, now],
      mustChange: true,
    }
    const from = "FROM authorization_code WHERE hash = ? AND token = ?"
    // The person sees and revokes this token. Its secret is discarded, so it grants no access itself.
    const insert = {
      sql: `INSERT INTO token (id, person, hash, scopes, name, created_at, expires_at) SELECT ?, person, ?, scopes, name, ?, ? ${from}`,
      values: [id, secretHash(newSecret(row.id)), now, now + GRANT_MS, hash, id],
      mustChange: true,
    }
    const grant = {
      sql: `INSERT INTO program_grant (token, person, client, resource, hash, renewed_at) SELECT ?, person, client, resource, ?, ? ${from}`,
      values: [id, secretHash(refresh), now, hash, id],
      mustChange: true,
    }
    const access = this.#access(row.id, id, now)
    const outcome = await this.#engine.change({
      type: "statements",
      statements: [use, insert, grant, access.insert],
    })
    if (outcome.ok) return { ...access.token, refresh, scopes: toScopes(row.scopes) }
    const sql = `SELECT token FROM authorization_code WHERE ${sameBinding} AND token IS NOT NULL`
    const [used] = await this.#engine.query<{ token: TokenId }>(sql, values)
    return used && this.#revoke(used.token, now)
  }

  /**
   * Exchanges a refresh token for new access and the next refresh token in one commit. The previous refresh token is
   * accepted for another minute. Later use means that it was stolen, and revokes the grant.
   */
  async renew(
    secret: string,
    { client, resource }: Pick<CodeBinding, "client" | "resource">,
    now: number,
  ): Promise<ExchangedAccess | { reused: TokenId } | undefined> {
    const hash = secretHash(secret)
    const sql = `SELECT g.token, g.hash, g.renewed_at, t.scopes, p.id FROM program_grant g JOIN token t ON t.id = g.token
      JOIN person p ON p.key = g.person WHERE (g.hash = ? OR g.previous_hash = ?) AND g.client = ? AND g.resource = ?
        AND t.revoked_at IS NULL AND t.expires_at > ?`
    type Row = { token: TokenId; hash: string; renewed_at: number; scopes: string; id: UserId }
    const [row] = await this.#engine.query<Row>(sql, [hash, hash, secretHash(client), resource, now])
    if (!row) return undefined
    if (row.hash !== hash && now - row.renewed_at > LOST_ANSWER_MS) return this.#revoke(row.token, now)
    const refresh = newSecret(row.id, "pawl_refresh_")
    // Stores the presented token as the previous one. Its minute starts at its first use.
    const rotate = {
      sql: `UPDATE program_grant SET renewed_at = CASE WHEN hash = ? THEN ? ELSE renewed_at END, hash = ?, previous_hash = ?
        WHERE token = ? AND hash = ?`,
      values: [hash, now, secretHash(refresh), hash, row.token, row.hash],
      mustChange: true,
    }
    const extend = { sql: "UPDATE token SET expires_at = ? WHERE id = ?", values: [now + GRANT_MS, row.token] }
    const tidy = {
      sql: "DELETE FROM token WHERE minted_by = ? AND expires_at <= ? AND person = (SELECT person FROM program_grant WHERE token = ?)",
      values: [row.token, now, row.token],
    }
    const access = this.#access(row.id, row.token, now)
    const outcome = await this.#engine.change({
      type: "statements",
      statements: [rotate, extend, tidy, access.insert],
    })
    // A concurrent use of the same refresh token won, so this one is the previous token now.
    if (!outcome.ok) return this.renew(secret, { client, resource }, now)
    return { ...access.token, refresh, scopes: toScopes(row.scopes) }
  }

  #access(user: UserId, grant: TokenId, now: number) {
    const token = newSecret(user, "pawl_")
    const insert = {
      sql: `INSERT INTO token (id, person, hash, scopes, created_at, minted_by, expires_at)
        SELECT ?, person, ?, scopes, ?, id, ? FROM token WHERE id = ? AND revoked_at IS NULL`,
      values: [newId("tok", user, now), secretHash(token), now, now + ACCESS_MS, grant],
      mustChange: true,
    }
    return { insert, token: { token, seconds: ACCESS_MS / 1000 } }
  }

  async #revoke(id: TokenId, now: number): Promise<{ reused: TokenId }> {
    const sql = "UPDATE token SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"
    await this.#engine.change({ type: "statements", statements: [{ sql, values: [now, id] }] })
    return { reused: id }
  }
}

const bindingValues = ({ client, redirect, challenge, resource }: CodeBinding) => [
  secretHash(client),
  redirect,
  challenge,
  resource,
]
