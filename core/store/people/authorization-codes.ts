import { newId, type TokenId, type UserId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"
import { newSecret, secretHash } from "./hashed-secret.ts"
import { toScopes } from "./people.ts"

const CODE_MS = 60_000
/** How long a program has access before it has to renew it, and how long it may stay away. */
const ACCESS_MS = 60 * 60_000
const GRANT_MS = 30 * 24 * 60 * 60_000
/** For so long a secret that was renewed may be shown once more: the answer with the next one may have been lost. */
const LOST_ANSWER_MS = 60_000
/** For how long it is known of a code that it was used: who uses it again has found it somewhere. */
const REMEMBERED_MS = 60 * 60_000

/** What a code stands for. Only who knows all of it exchanges it. */
interface Bound {
  readonly client: string
  readonly redirect: string
  readonly challenge: string
  readonly resource: string
}

/** What a program has then: access for a while, and the secret with which it asks for more. */
export interface ExchangedAccess {
  readonly token: string
  readonly seconds: number
  readonly refresh: string
  readonly scopes: string[]
}

/** What a person's consent makes: exchanged once, within a minute, by the program that asked for it. */
export class SqlAuthorizationCodes {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  async create(
    grant: Bound & { readonly user: UserId; readonly name: string; readonly scopes: readonly string[] },
    now: number,
  ): Promise<string> {
    const code = newSecret(grant.user)
    const make = {
      sql: `INSERT INTO authorization_code (hash, person, scopes, name, client, redirect, challenge, resource, expires_at)
        SELECT ?, key, ?, ?, ?, ?, ?, ?, ? FROM person WHERE id = ?`,
      values: [
        ...[secretHash(code), grant.scopes.join(" "), grant.name, ...boundValues(grant), now + CODE_MS],
        grant.user,
      ],
      mustChange: true,
    }
    const tidy = { sql: "DELETE FROM authorization_code WHERE expires_at <= ?", values: [now - REMEMBERED_MS] }
    await this.#engine.change({ type: "statements", statements: [tidy, make] })
    return code
  }

  /**
   * The code is used and the tokens are made in one commit: a crash leaves both or neither, and of racing uses one wins. Where
   * the answer is lost the tokens are lost too; the next use of the code takes them back.
   */
  async exchange(code: string, bound: Bound, now: number): Promise<ExchangedAccess | { reused: TokenId } | undefined> {
    const hash = secretHash(code)
    const whose = `SELECT p.id, c.scopes FROM authorization_code c JOIN person p ON p.key = c.person WHERE c.hash = ?`
    const [row] = await this.#engine.query<{ id: UserId; scopes: string }>(whose, [hash])
    if (!row) return undefined
    const [id, refresh] = [newId("tok", row.id, now), newSecret(row.id, "pawl_refresh_")]
    const isTheSame = "hash = ? AND client = ? AND redirect = ? AND challenge = ? AND resource = ?"
    const same = [hash, ...boundValues(bound)]
    const use = {
      sql: `UPDATE authorization_code SET token = ? WHERE ${isTheSame} AND token IS NULL AND expires_at > ?`,
      values: [id, ...same, now],
      mustChange: true,
    }
    const from = "FROM authorization_code WHERE hash = ? AND token = ?"
    // What the person sees among their tokens, and revokes. Nobody has its secret: it opens nothing by itself.
    const make = {
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
      statements: [use, make, grant, access.make],
    })
    if (outcome.ok) return { ...access.token, refresh, scopes: toScopes(row.scopes) }
    const sql = `SELECT token FROM authorization_code WHERE ${isTheSame} AND token IS NOT NULL`
    const [used] = await this.#engine.query<{ token: TokenId }>(sql, same)
    return used && this.#takeBack(used.token, now)
  }

  /**
   * New access for a program that shows the secret it was given for that, and the next such secret, in one commit. One that was
   * renewed before is known again for a minute; later, whoever has it has found it somewhere, and the grant is taken back.
   */
  async renew(
    secret: string,
    { client, resource }: Pick<Bound, "client" | "resource">,
    now: number,
  ): Promise<ExchangedAccess | { reused: TokenId } | undefined> {
    const hash = secretHash(secret)
    const sql = `SELECT g.token, g.hash, g.renewed_at, t.scopes, p.id FROM program_grant g JOIN token t ON t.id = g.token
      JOIN person p ON p.key = g.person WHERE (g.hash = ? OR g.previous_hash = ?) AND g.client = ? AND g.resource = ?
        AND t.revoked_at IS NULL AND t.expires_at > ?`
    type Row = { token: TokenId; hash: string; renewed_at: number; scopes: string; id: UserId }
    const [row] = await this.#engine.query<Row>(sql, [hash, hash, secretHash(client), resource, now])
    if (!row) return undefined
    if (row.hash !== hash && now - row.renewed_at > LOST_ANSWER_MS) return this.#takeBack(row.token, now)
    const refresh = newSecret(row.id, "pawl_refresh_")
    // The secret that is shown is the one to be known again, and the time counts from its first use.
    const rotate = {
      sql: `UPDATE program_grant SET renewed_at = CASE WHEN hash = ? THEN ? ELSE renewed_at END, hash = ?, previous_hash = ?
        WHERE token = ? AND hash = ?`,
      values: [hash, now, secretHash(refresh), hash, row.token, row.hash],
      mustChange: true,
    }
    const prolong = { sql: "UPDATE token SET expires_at = ? WHERE id = ?", values: [now + GRANT_MS, row.token] }
    const tidy = {
      sql: "DELETE FROM token WHERE minted_by = ? AND expires_at <= ? AND person = (SELECT person FROM program_grant WHERE token = ?)",
      values: [row.token, now, row.token],
    }
    const access = this.#access(row.id, row.token, now)
    const outcome = await this.#engine.change({
      type: "statements",
      statements: [rotate, prolong, tidy, access.make],
    })
    // Another use of the same secret came first: within the minute it is asked once more.
    if (!outcome.ok) return this.renew(secret, { client, resource }, now)
    return { ...access.token, refresh, scopes: toScopes(row.scopes) }
  }

  #access(user: UserId, grant: TokenId, now: number) {
    const token = newSecret(user, "pawl_")
    const make = {
      sql: `INSERT INTO token (id, person, hash, scopes, created_at, minted_by, expires_at)
        SELECT ?, person, ?, scopes, ?, id, ? FROM token WHERE id = ? AND revoked_at IS NULL`,
      values: [newId("tok", user, now), secretHash(token), now, now + ACCESS_MS, grant],
      mustChange: true,
    }
    return { make, token: { token, seconds: ACCESS_MS / 1000 } }
  }

  async #takeBack(id: TokenId, now: number): Promise<{ reused: TokenId }> {
    const sql = "UPDATE token SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"
    await this.#engine.change({ type: "statements", statements: [{ sql, values: [now, id] }] })
    return { reused: id }
  }
}

const boundValues = ({ client, redirect, challenge, resource }: Bound) => [
  secretHash(client),
  redirect,
  challenge,
  resource,
]
