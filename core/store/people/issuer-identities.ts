import type { UserId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"
import type { Statement } from "../engine/operations.ts"
import { secretHash } from "./hashed-secret.ts"
import type { PersonRecord, SqlPeople } from "./people.ts"

/** A person as an issuer has just vouched for them. */
interface VouchedPerson {
  readonly issuer: string
  readonly subject: string
  /** Their current name at the issuer. */
  readonly name: string
  /** The name of the local person that the operator has mapped them to. */
  readonly localName?: string | undefined
}

/** Identities of people who sign in at an issuer, and pending sign-ins. */
export class SqlIssuerIdentities {
  readonly #engine: Engine
  readonly #people: Pick<SqlPeople, "ofIssuer">

  constructor(engine: Engine, people: Pick<SqlPeople, "ofIssuer">) {
    this.#engine = engine
    this.#people = people
  }

  /**
   * The person of an identity: the known one, whatever its current name; otherwise the person with the local name,
   * unless another identity of the issuer has it; otherwise a new one, which is also the person of the issuer's JWTs.
   * `taken`: another identity has it.
   */
  async personOf(identity: VouchedPerson, now: number): Promise<PersonRecord | "taken"> {
    const known = await this.#bySubject(identity)
    if (known) return this.#recordSignIn(known, identity, now)
    const local = identity.localName === undefined ? undefined : await this.#byLocalName(identity.localName)
    const person = local ?? (await this.#people.ofIssuer({ ...identity, signedInAt: now }, now))
    const sql = `INSERT INTO issuer_identity (id, issuer, subject, person, name, created_at, signed_in_at)
      SELECT ?, ?, ?, key, ?, ?, ? FROM person WHERE id = ? ON CONFLICT DO NOTHING`
    await this.#change([
      { sql, values: [idOf(identity), identity.issuer, identity.subject, identity.name, now, now, person.id] },
    ])
    const bound = await this.#bySubject(identity)
    return bound ? this.#recordSignIn(bound, identity, now) : "taken"
  }

  /** Starts a sign-in, which can be finished once. Only a hash is stored. */
  async begin(state: string, expiresAt: number, now: number): Promise<void> {
    const tidy = { sql: "DELETE FROM sign_in_attempt WHERE expires_at <= ?", values: [now] }
    const insert = {
      sql: "INSERT INTO sign_in_attempt (hash, expires_at) VALUES (?, ?)",
      values: [secretHash(state), expiresAt],
    }
    await this.#change([tidy, insert])
  }

  /** Consumes a sign-in. False if it is unknown, expired or used: of racing uses one wins. */
  async finish(state: string, now: number): Promise<boolean> {
    const sql = "DELETE FROM sign_in_attempt WHERE hash = ? AND expires_at > ?"
    return (await this.#change([{ sql, values: [secretHash(state), now], mustChange: true }])).ok
  }

  /** A person without a local name gets the issuer's current name. */
  async #recordSignIn({ id, name }: PersonRecord, identity: VouchedPerson, now: number): Promise<PersonRecord> {
    const isOwn = name.startsWith(" ")
    const rename = { sql: "UPDATE person SET called = ? WHERE id = ?", values: [identity.name, id] }
    const update = {
      sql: "UPDATE issuer_identity SET name = ?, signed_in_at = ? WHERE id = ?",
      values: [identity.name, now, idOf(identity)],
    }
    await this.#change(isOwn ? [update, rename] : [update])
    return { id, name: isOwn ? identity.name : name }
  }

  /** The person who has signed in with this subject before. */
  find(identity: Pick<VouchedPerson, "issuer" | "subject">): Promise<PersonRecord | undefined> {
    return this.#bySubject(identity)
  }

  async #bySubject(identity: Pick<VouchedPerson, "issuer" | "subject">): Promise<PersonRecord | undefined> {
    const sql = `SELECT p.id, p.name FROM issuer_identity i JOIN person p ON p.key = i.person WHERE i.id = ?`
    const [row] = await this.#engine.query<{ id: UserId; name: string }>(sql, [idOf(identity)])
    return row && { id: row.id, name: row.name }
  }

  /** Only local names: names with a leading or trailing space belong to people of issuers or erased people. */
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

/** Unique for each pair. */
const idOf = ({ issuer, subject }: Pick<VouchedPerson, "issuer" | "subject">) =>
  secretHash(JSON.stringify([issuer, subject]))
