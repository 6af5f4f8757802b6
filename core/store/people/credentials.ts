import { type Credential, lineageOf, type Ticket } from "../../protocol/account/sign-in.ts"
import type { Engine } from "../engine/engine.ts"
import { type Known, type KnownRow, toKnown } from "./people.ts"
import { secretHash, newSecret } from "./hashed-secret.ts"
import { toTime } from "../engine/row-values.ts"

const TICKET_MS = 30_000
const AT_ONCE = 1024

/** `revoked` by the person; `over`: expired or signed out. */
export type Lapsed = "revoked" | "over"

/** Whether credentials of any kind are still valid, and one-time tickets that stand in for them. */
export class SqlCredentials {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /**
   * Which of these credentials are no longer valid, with one query per thousand. A JWT is never among them, because
   * none is stored.
   */
  async lapsed(ids: readonly string[], now: number): Promise<ReadonlyMap<string, Lapsed>> {
    const ours = ids.filter((id) => /^(tok|sess)_/.test(id))
    const lapsed = new Map<string, Lapsed>()
    for (let start = 0; start < ours.length; start += AT_ONCE) {
      const some = ours.slice(start, start + AT_ONCE)
      const found = await this.#read(some)
      for (const id of some) {
        const row = found.get(id)
        if (row && row.revoked_at !== null) lapsed.set(id, "revoked")
        else if (!row || (row.expires_at ?? Number.POSITIVE_INFINITY) <= now) lapsed.set(id, "over")
      }
    }
    return lapsed
  }

  /** A ticket that opens one socket as this caller. */
  async createTicket({ person, scopes, credential }: Known, now: number): Promise<Ticket> {
    const ticket = newSecret(person.id)
    const insert = {
      sql: `INSERT INTO ticket (hash, person, scopes, credential, lineage, credential_expires_at, expires_at)
        SELECT ?, key, ?, ?, ?, ?, ? FROM person WHERE id = ?`,
      values: [
        secretHash(ticket),
        [...scopes].join(" "),
        `${credential.type} ${credential.id}`,
        lineageOf(credential),
        credential.expiresAt ?? null,
        now + TICKET_MS,
        person.id,
      ],
    }
    const tidy = { sql: "DELETE FROM ticket WHERE expires_at <= ?", values: [now] }
    await this.#engine.change({ type: "statements", statements: [tidy, insert] })
    return { ticket, expiresAt: toTime(now + TICKET_MS) }
  }

  /**
   * Consumes a ticket: of racing uses one gets the row. Undefined also if its credential was revoked in the meantime.
   */
  async redeemTicket(ticket: string, now: number): Promise<Known | undefined> {
    const sql = `DELETE FROM ticket WHERE hash = ? AND expires_at > ?
      RETURNING person, scopes, credential, lineage, credential_expires_at`
    type Row = {
      person: number
      scopes: string
      credential: string
      lineage: string | null
      credential_expires_at: number | null
    }
    const outcome = await this.#engine.change({
      type: "statements",
      statements: [{ sql, values: [secretHash(ticket), now], mustChange: true }],
    })
    const row = outcome.ok ? (outcome.rows[0]?.[0] as Row | undefined) : undefined
    if (!row) return undefined
    const [type, id] = row.credential.split(" ") as [Credential["type"], string]
    const expiresAt = row.credential_expires_at
    if (expiresAt !== null && expiresAt <= now) return undefined
    const people = this.#engine.query<KnownRow>("SELECT id, coalesce(called, name) AS name FROM person WHERE key = ?", [
      row.person,
    ])
    const [lapsed, [person]] = await Promise.all([this.lapsed([id], now), people])
    if (!person || lapsed.has(id)) return undefined
    const { lineage, scopes } = row
    const more = { ...(expiresAt === null ? {} : { expiresAt }), ...(lineage === null ? {} : { lineage }) }
    return toKnown({ ...person, scopes }, { type, id, ...more })
  }

  async #read(ids: readonly string[]): Promise<Map<string, CredentialRow>> {
    // Padded to a few lengths, so that few different statements are prepared.
    const padded = [...ids, ...Array<string>(2 ** Math.ceil(Math.log2(ids.length)) - ids.length).fill("")]
    const among = `id IN (${padded.map(() => "?").join(", ")})`
    const sql = `SELECT t.id, coalesce(t.revoked_at, maker.revoked_at) AS revoked_at, t.expires_at
      FROM token t LEFT JOIN token maker ON maker.id = t.minted_by WHERE t.${among}
      UNION ALL SELECT id, revoked_at, expires_at FROM session WHERE ${among}`
    const rows = await this.#engine.query<CredentialRow>(sql, [...padded, ...padded])
    return new Map(rows.map((row) => [row.id, row]))
  }
}

interface CredentialRow {
  readonly id: string
  readonly revoked_at: number | null
  readonly expires_at: number | null
}
