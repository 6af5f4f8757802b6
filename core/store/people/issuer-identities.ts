import type { UserId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"
import type { Statement } from "../engine/operations.ts"
import { secretHash } from "./hashed-secret.ts"
import type { PersonRecord, SqlPeople } from "./people.ts"

/** Somebody as an issuer has just vouched for them. */
interface Vouched {
  readonly issuer: string
  readonly subject: string
  /** How the issuer calls them now. */
  readonly name: string
  /** The person of this server whom they are by the word of its operator, where there is one of this name. */
  readonly localName?: string | undefined
}

/** Who signs in at an issuer, and which sign-ins are under way. */
export class SqlIssuerIdentities {
  readonly #engine: Engine
  readonly #people: Pick<SqlPeople, "ofIssuer">

  constructor(engine: Engine, people: Pick<SqlPeople, "ofIssuer">) {
    this.#engine = engine
    this.#people = people
  }

  /**
   * The person that they are: as before, whatever they are called now; at first sight the one of that local name, if nobody
   * else of the issuer is; or else one of their own, who is also the one of the issuer's JWTs. `taken`: somebody else is.
   */
  async personOf(who: Vouched, now: number): Promise<PersonRecord | "taken"> {
    const known = await this.#bySubject(who)
    if (known) return this.#seen(known, who, now)
    const local = who.localName === undefined ? undefined : await this.#byLocalName(who.localName)
    const person = local ?? (await this.#people.ofIssuer({ ...who, signedInAt: now }, now))
    const sql = `INSERT INTO issuer_identity (id, issuer, subject, person, name, created_at, signed_in_at)
      SELECT ?, ?, ?, key, ?, ?, ? FROM person WHERE id = ? ON CONFLICT DO NOTHING`
    await this.#change([{ sql, values: [idOf(who), who.issuer, who.subject, who.name, now, now, person.id] }])
    const bound = await this.#bySubject(who)
    return bound ? this.#seen(bound, who, now) : "taken"
  }

  /** From now on this sign-in may be finished once. Nothing of it is stored but a hash. */
  async begin(state: string, expiresAt: number, now: number): Promise<void> {
    const tidy = { sql: "DELETE FROM sign_in_attempt WHERE expires_at <= ?", values: [now] }
    const make = {
      sql: "INSERT INTO sign_in_attempt (hash, expires_at) VALUES (?, ?)",
      values: [secretHash(state), expiresAt],
    }
    await this.#change([tidy, make])
  }

  /** Uses it up. False where it never was, is over or was used: of racing uses one wins. */
  async finish(state: string, now: number): Promise<boolean> {
    const sql = "DELETE FROM sign_in_attempt WHERE hash = ? AND expires_at > ?"
    return (await this.#change([{ sql, values: [secretHash(state), now], mustChange: true }])).ok
  }

  /** Whoever is known by the issuer alone is called as it calls them; who has a name of this server keeps it. */
  async #seen({ id, name }: PersonRecord, who: Vouched, now: number): Promise<PersonRecord> {
    const isOwn = name.startsWith(" ")
    const rename = { sql: "UPDATE person SET called = ? WHERE id = ?", values: [who.name, id] }
    const note = {
      sql: "UPDATE issuer_identity SET name = ?, signed_in_at = ? WHERE id = ?",
      values: [who.name, now, idOf(who)],
    }
    await this.#change(isOwn ? [note, rename] : [note])
    return { id, name: isOwn ? who.name : name }
  }

  /** Who has come with this subject before. */
  find(who: Pick<Vouched, "issuer" | "subject">): Promise<PersonRecord | undefined> {
    return this.#bySubject(who)
  }

  async #bySubject(who: Pick<Vouched, "issuer" | "subject">): Promise<PersonRecord | undefined> {
    const sql = `SELECT p.id, p.name FROM issuer_identity i JOIN person p ON p.key = i.person WHERE i.id = ?`
    const [row] = await this.#engine.query<{ id: UserId; name: string }>(sql, [idOf(who)])
    return row && { id: row.id, name: row.name }
  }

  /** Only who has a name of this server: a space at either end marks people of issuers, and people who are gone. */
  async #byLocalName(name: string): Promise<PersonRecord | undefined> {
    if (name !== name.trim()) return undefined
    const sql = "SELECT id, name FROM person WHERE name = ?"
    const [row] = await this.#engine.query<{ id: UserId; name: string }>(sql, [name])
    return row && { id: row.id, name: row.name }
  }

  #change(statements: readonly Statement[]) {
    return this.#engine.change({ type: "statements", statements })
  }
}

/** No two pairs have the same. */
const idOf = ({ issuer, subject }: Pick<Vouched, "issuer" | "subject">) => secretHash(JSON.stringify([issuer, subject]))
