import { newId, type TokenId, type UserId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"
import { newSecret, secretHash } from "./hashed-secret.ts"
import { toScopes } from "./people.ts"

const CODE_MS = 60_000
/** For how long it is known of a code that it was used: who uses it again has found it somewhere. */
const REMEMBERED_MS = 60 * 60_000

/** What a code stands for. Only who knows all of it exchanges it. */
interface Bound {
  readonly client: string
  readonly redirect: string
  readonly challenge: string
  readonly resource: string
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
   * The code is used and the token is made in one commit: a crash leaves both or neither, and of racing uses one wins. Where
   * the answer is lost the token is lost too; the next use of the code takes it back.
   */
  async exchange(
    code: string,
    bound: Bound,
    now: number,
  ): Promise<{ token: string; scopes: string[] } | { reused: TokenId } | undefined> {
    const hash = secretHash(code)
    const whose = `SELECT p.id, c.scopes FROM authorization_code c JOIN person p ON p.key = c.person WHERE c.hash = ?`
    const [row] = await this.#engine.query<{ id: UserId; scopes: string }>(whose, [hash])
    if (!row) return undefined
    const [id, token] = [newId("tok", row.id, now), newSecret(row.id, "pawl_")]
    const isTheSame = "hash = ? AND client = ? AND redirect = ? AND challenge = ? AND resource = ?"
    const same = [hash, ...boundValues(bound)]
    const use = {
      sql: `UPDATE authorization_code SET token = ? WHERE ${isTheSame} AND token IS NULL AND expires_at > ?`,
      values: [id, ...same, now],
      mustChange: true,
    }
    const make = {
      sql: `INSERT INTO token (id, person, hash, scopes, name, created_at)
        SELECT ?, person, ?, scopes, name, ? FROM authorization_code WHERE hash = ? AND token = ?`,
      values: [id, secretHash(token), now, hash, id],
      mustChange: true,
    }
    const outcome = await this.#engine.change({ type: "statements", statements: [use, make] })
    if (outcome.ok) return { token, scopes: toScopes(row.scopes) }
    const sql = `SELECT token FROM authorization_code WHERE ${isTheSame} AND token IS NOT NULL`
    const [used] = await this.#engine.query<{ token: TokenId }>(sql, same)
    if (!used) return undefined
    const takeBack = {
      sql: "UPDATE token SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL",
      values: [now, used.token],
    }
    await this.#engine.change({ type: "statements", statements: [takeBack] })
    return { reused: used.token }
  }
}

const boundValues = ({ client, redirect, challenge, resource }: Bound) => [
  secretHash(client),
  redirect,
  challenge,
  resource,
]
