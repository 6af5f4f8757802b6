import type { Page } from "../../protocol/answers.ts"
import { failure } from "../../protocol/errors.ts"
import { isId, newId, type TokenId, type UserId } from "../../protocol/ids.ts"
import type { PageQuery } from "../../protocol/requests.ts"
import type { Credential, Scope, TokenView } from "../../protocol/account/sign-in.ts"
import { isStorable } from "../../shared/text/text.ts"
import type { Engine } from "../engine/engine.ts"
import { newestFirst } from "../engine/newest-first.ts"
import { secretHash, newSecret } from "./hashed-secret.ts"
import { toTime } from "../engine/row-values.ts"

export interface PersonRecord {
  readonly id: UserId
  readonly name: string
}

/** A person in a list. */
export interface PersonView extends PersonRecord {
  readonly createdAt: string
}

interface PersonRow {
  readonly id: UserId
  readonly name: string
  readonly created_at: number
}

/** An authenticated person, their scopes and their credential. */
export interface Known {
  readonly person: PersonRecord
  readonly scopes: ReadonlySet<Scope>
  readonly credential: Credential
}

/** A person as an issuer of JWTs identifies them. */
export interface IssuerIdentity {
  readonly issuer: string
  readonly subject: string
  /** When they last signed in at the issuer, if that is known. */
  readonly signedInAt?: number | undefined
}

/** People, and the tokens of their programs. */
export class SqlPeople {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /**
   * The person with this name or id, or a new one with this name. Code that has an id often passes it as a name, which
   * must not create a second person.
   */
  async ensure(name: string, now: number): Promise<PersonRecord> {
    // Names appear in lists and terminals, where these characters could start a line or a command. The error does not
    // repeat them.
    if (/\p{Cc}/u.test(name))
      throw failure("bad_request", { problem: "A name holds no line break, tab or other control character." })
    if (!isStorable(name) || !/^\S(.{0,98}\S)?$/u.test(name)) {
      throw failure("bad_request", { problem: `"${name}" is not a name: 1 to 100 characters, no space at either end.` })
    }
    return (isId("user", name) && (await this.#byId(name))) || this.#ensure(name, now)
  }

  /** Returns the person with this name or id; undefined if there is none. */
  async find(nameOrId: string): Promise<PersonRecord | undefined> {
    if (!isStorable(nameOrId) || /^\s/.test(nameOrId)) return undefined // a name of an issuer starts with a space
    return (isId("user", nameOrId) && (await this.#byId(nameOrId))) || this.#byName(nameOrId)
  }

  /** Lists everybody with an account here, newest first. */
  list(page: PageQuery): Promise<Page<PersonView>> {
    return newestFirst<PersonRow, PersonView>(this.#engine, page, {
      // The name of an erased person ends with a space for a day.
      select: `SELECT x.id, coalesce(x.called, x.name) AS name, x.created_at FROM person x WHERE x.name NOT LIKE '% '`,
      values: [],
      toItem: ({ id, name, created_at }) => ({ id, name: toDisplayName(name), createdAt: toTime(created_at) }),
    })
  }

  /**
   * The person with this `subject` of a JWT issuer, created on demand. An erased person is created again only after a
   * new sign-in, so that an older token cannot restore them.
   */
  async ofIssuer({ issuer, subject, signedInAt = 0 }: IssuerIdentity, now: number): Promise<PersonRecord> {
    // The name starts with a space, which `ensure` refuses, so it cannot collide with a local name. An issuer contains
    // no space (config.ts), so different pairs have different names.
    const name = ` ${issuer} ${subject}`
    const known = await this.#byName(name)
    if (known) return { id: known.id, name: subject }
    const sql = "SELECT at FROM erased_identity WHERE hash = ?"
    const [erased] = await this.#engine.query<{ at: number }>(sql, [secretHash(name)])
    if (erased && signedInAt <= erased.at) throw failure("person_erased")
    const { id } = await this.#ensure(name, now)
    return { id, name: subject }
  }

  /** Whether there is a token that was not revoked. */
  async hasTokens(): Promise<boolean> {
    return (await this.#engine.query("SELECT 1 FROM token WHERE revoked_at IS NULL LIMIT 1", [])).length > 0
  }

  /** Creates a token, which is shown once. A token that another token created is not valid for longer than that one. */
  async createToken(
    person: Pick<PersonRecord, "id">,
    granted: readonly Scope[],
    now: number,
    { name = null, mintedBy = null, expiresAt = null }: TokenToCreate = {},
  ): Promise<{ id: TokenId; token: string }> {
    const id = newId("tok", person.id, now)
    const token = newSecret(person.id, "pawl_")
    const sql =
      "INSERT INTO token (id, person, hash, scopes, name, created_at, minted_by, expires_at) SELECT ?, key, ?, ?, ?, ?, ?, ? FROM person WHERE id = ?"
    const values = [id, secretHash(token), granted.join(" "), name, now, mintedBy, expiresAt, person.id]
    await this.#engine.change({ type: "statements", statements: [{ sql, values, mustChange: true }] })
    return { id, token }
  }

  /** The person and scopes of a token; undefined if it is unknown, revoked or expired. */
  async byToken(token: string, now: number): Promise<Known | undefined> {
    const sql = `SELECT p.id, coalesce(p.called, p.name) AS name, t.id AS token, t.scopes, t.expires_at, t.minted_by, g.resource
      FROM token t JOIN person p ON p.key = t.person LEFT JOIN token maker ON maker.id = t.minted_by
      LEFT JOIN program_grant g ON g.token = t.minted_by
      WHERE t.hash = ? AND t.revoked_at IS NULL AND maker.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > ?)`
    type Row = KnownRow & {
      token: TokenId
      expires_at: number | null
      minted_by: TokenId | null
      resource: string | null
    }
    const [row] = await this.#engine.query<Row>(sql, [secretHash(token), now])
    if (!row) return undefined
    const { token: id, expires_at: expiresAt, minted_by: mintedBy, resource } = row
    // Access tokens are renewed every hour, so the grant is the credential that a run continues with and that a person
    // revokes.
    if (resource !== null && mintedBy !== null)
      return toKnown(row, { type: "token", id: mintedBy, resource, ...(expiresAt ? { expiresAt } : {}) })
    return toKnown(row, { type: "token", id, ...(expiresAt ? { expiresAt } : {}), ...(mintedBy ? { mintedBy } : {}) })
  }

  listTokens(user: UserId, page: PageQuery, now: number): Promise<Page<TokenView>> {
    return newestFirst<TokenRow, TokenView>(this.#engine, page, {
      select: `SELECT x.id, x.name, x.scopes, x.created_at, x.expires_at, own.resource FROM token x
        LEFT JOIN token maker ON maker.id = x.minted_by LEFT JOIN program_grant own ON own.token = x.id
        LEFT JOIN program_grant g ON g.token = x.minted_by
        WHERE x.person = (SELECT key FROM person WHERE id = ?) AND x.revoked_at IS NULL AND maker.revoked_at IS NULL
          AND g.token IS NULL AND (x.expires_at IS NULL OR x.expires_at > ?)`,
      values: [user, now],
      toItem: ({ id, name, scopes, created_at, expires_at, resource }) => ({
        id,
        name,
        scopes: toScopes(scopes),
        createdAt: toTime(created_at),
        expiresAt: expires_at === null ? null : toTime(expires_at),
        ...(resource === null ? {} : { resource }),
      }),
    })
  }

  /** Throws `not_found` if it does not exist, was revoked before, or belongs to another person. */
  async revokeToken(person: Pick<PersonRecord, "id">, id: TokenId, now: number): Promise<void> {
    const sql = `UPDATE token SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL AND person = (SELECT key FROM person WHERE id = ?)`
    const outcome = await this.#engine.change({
      type: "statements",
      statements: [{ sql, values: [now, id, person.id], mustChange: true }],
    })
    if (!outcome.ok) throw failure("not_found")
  }

  async #ensure(name: string, now: number): Promise<PersonRecord> {
    const known = await this.#byName(name)
    if (known) return known
    const sql = "INSERT INTO person (id, name, created_at) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING"
    await this.#engine.change({ type: "statements", statements: [{ sql, values: [newId("user", now), name, now] }] })
    const made = await this.#byName(name)
    if (!made) throw failure("internal")
    return made
  }

  #byName(name: string): Promise<PersonRecord | undefined> {
    return this.#find("SELECT id, name FROM person WHERE name = ?", name)
  }

  #byId(id: UserId): Promise<PersonRecord | undefined> {
    // The name of an erased person ends with a space for a day.
    return this.#find("SELECT id, name FROM person WHERE id = ? AND name NOT LIKE '% '", id)
  }

  async #find(sql: string, value: string): Promise<PersonRecord | undefined> {
    const [row] = await this.#engine.query<{ id: UserId; name: string }>(sql, [value])
    return row && { id: row.id, name: row.name }
  }
}

export interface TokenToCreate {
  readonly name?: string | null
  /** The token that creates it. */
  readonly mintedBy?: TokenId | null
  readonly expiresAt?: number | null
}

export interface KnownRow {
  readonly id: UserId
  readonly name: string
  readonly scopes: string
}

export function toKnown({ id, name, scopes }: KnownRow, credential: Credential): Known {
  return { person: { id, name: toDisplayName(name) }, scopes: new Set(toScopes(scopes)), credential }
}

/** The table stores a person of an issuer as ` issuer subject`. Everywhere else only the subject is shown. */
const toDisplayName = (name: string): string => (name.startsWith(" ") ? name.slice(name.indexOf(" ", 1) + 1) : name)

export const toScopes = (list: string): Scope[] => (list === "" ? [] : (list.split(" ") as Scope[]))

interface TokenRow {
  readonly id: TokenId
  readonly name: string | null
  readonly scopes: string
  readonly created_at: number
  readonly expires_at: number | null
  readonly resource: string | null
}
