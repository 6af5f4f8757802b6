import { createHash, randomBytes } from "node:crypto"
import { failure } from "../protocol/errors.ts"
import { newId, type TokenId, type UserId } from "../protocol/ids.ts"
import type { Scope } from "../protocol/scopes.ts"
import { isStorable } from "../protocol/text.ts"
import type { Engine } from "./engine.ts"

export interface Person {
  readonly id: UserId
  readonly name: string
}

/** Who may come in, and with what they prove it. A token is stored as its hash only: a copy of the database opens nothing. */
export class People {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** The person of this name, made now if new. */
  async ensure(name: string, now: number): Promise<Person> {
    if (!isStorable(name) || !/^\S(.{0,98}\S)?$/u.test(name)) {
      throw failure("bad_request", { problem: `"${name}" is not a name: 1 to 100 characters, no space at either end.` })
    }
    const sql = "INSERT INTO person (id, name, created_at) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING"
    const known = await this.#byName(name)
    if (known) return known
    await this.#engine.change({ type: "statements", statements: [{ sql, values: [newId("user", now), name, now] }] })
    const made = await this.#byName(name)
    if (!made) throw failure("internal")
    return made
  }

  /** Whether there is anybody yet. */
  async isEmpty(): Promise<boolean> {
    return (await this.#engine.query("SELECT 1 FROM person LIMIT 1", [])).length === 0
  }

  /** Whether anybody holds a token that counts. */
  async hasTokens(): Promise<boolean> {
    return (await this.#engine.query("SELECT 1 FROM token WHERE revoked_at IS NULL LIMIT 1", [])).length > 0
  }

  /** A new token, shown this once. */
  async createToken(person: Person, granted: readonly Scope[], now: number): Promise<{ id: TokenId; token: string }> {
    const id = newId("tok", now)
    const token = `pawl_${randomBytes(32).toString("base64url")}`
    const sql =
      "INSERT INTO token (id, person, hash, scopes, created_at) SELECT ?, key, ?, ?, ? FROM person WHERE id = ?"
    const values = [id, hashOf(token), granted.join(" "), now, person.id]
    await this.#engine.change({ type: "statements", statements: [{ sql, values, mustChange: true }] })
    return { id, token }
  }

  /** Whose token this is and what it allows; undefined for one that never was or no longer counts. */
  async byToken(token: string): Promise<{ person: Person; scopes: ReadonlySet<Scope> } | undefined> {
    const sql = `SELECT p.id, p.name, t.scopes FROM token t JOIN person p ON p.key = t.person WHERE t.hash = ? AND t.revoked_at IS NULL`
    const [row] = await this.#engine.query<{ id: UserId; name: string; scopes: string }>(sql, [hashOf(token)])
    if (!row) return undefined
    return { person: { id: row.id, name: row.name }, scopes: new Set(row.scopes.split(" ") as Scope[]) }
  }

  async revokeToken(person: Person, id: TokenId, now: number): Promise<void> {
    const sql = `UPDATE token SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL AND person = (SELECT key FROM person WHERE id = ?)`
    const outcome = await this.#engine.change({
      type: "statements",
      statements: [{ sql, values: [now, id, person.id], mustChange: true }],
    })
    if (!outcome.ok) throw failure("not_found")
  }

  async #byName(name: string): Promise<Person | undefined> {
    const [row] = await this.#engine.query<{ id: UserId; name: string }>("SELECT id, name FROM person WHERE name = ?", [
      name,
    ])
    return row && { id: row.id, name: row.name }
  }
}

const hashOf = (token: string) => createHash("sha256").update(token).digest("hex")
