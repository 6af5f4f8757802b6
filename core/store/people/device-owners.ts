import { failure } from "../../protocol/errors.ts"
import { type ConversationId, type DeviceRequestId, newId, type UserId } from "../../protocol/ids.ts"
import { type Credential, type DeviceRequest, lineageOf } from "../../protocol/account/sign-in.ts"
import type { Engine } from "../engine/engine.ts"
import { toTime } from "../engine/row-values.ts"

/** Devices one credential may be: far more than needed, but a program cannot fill the table with names. */
const MAX_DEVICES = 1000
const AT_ONCE = 1024

export interface HandedOver {
  readonly user: UserId
  readonly name: string
  readonly lineage: string
}

/** What came of a hello. `takenAt`: when this credential was allowed to be a device that was another's before. */
export type ClaimResult =
  | { readonly owned: true; readonly takenAt: number | null }
  | { readonly owned: false; readonly asked: "now" | "before" }

/** Which credential may be which device of a person. The first that says its name is it, until the person says otherwise. */
export class SqlDeviceOwners {
  readonly #engine: Engine
  readonly #now: () => number
  readonly #exactly: () => Promise<number>

  /** `exactly`: the time that calls to devices are told from, where `now` may be old for a moment. */
  constructor(engine: Engine, now: () => number, exactly = async () => now()) {
    this.#engine = engine
    this.#now = now
    this.#exactly = exactly
  }

  /** Binds a name that is free, and otherwise asks the person for one that is another's. */
  async claim(user: UserId, name: string, credential: Credential): Promise<ClaimResult> {
    const lineage = lineageOf(credential)
    const row = (await this.#find(user, name)) ?? (await this.#bind(user, name, lineage))
    if (row.lineage === lineage) return { owned: true, takenAt: row.taken_at }
    if (row.asker === lineage) return { owned: false, asked: "before" }
    const now = this.#now()
    // One request for each device, the newest: who allows it names it, so that nothing is slipped in its place.
    const sql = `UPDATE device SET request = ?, asker = ?, asker_credential = ?, asked_at = ?
      WHERE person = ? AND name = ? AND lineage <> ?`
    const asker = `${credential.type} ${credential.id}`
    const values = [newId("dreq", user, now), lineage, asker, now, user, name, lineage]
    await this.#engine.change({ type: "statements", statements: [{ sql, values }] })
    return { owned: false, asked: "now" }
  }

  /** What waits for the person's word, the newest first. */
  async requests(user: UserId): Promise<DeviceRequest[]> {
    const sql = `SELECT d.request, d.name, d.asker_credential, d.asked_at, t.name AS token FROM device d
      LEFT JOIN token t ON d.asker_credential = 'token ' || t.id
      WHERE d.person = ? AND d.request IS NOT NULL ORDER BY d.asked_at DESC, d.name`
    const rows = await this.#engine.query<RequestRow>(sql, [user])
    return rows.map(({ request, name, asker_credential, asked_at, token }) => {
      const [type, id] = asker_credential.split(" ") as [Credential["type"], string]
      return { id: request, deviceId: name, credential: { type, id, name: token }, askedAt: toTime(asked_at) }
    })
  }

  /** Makes the asker the device. Throws `not_found` for a request that is not theirs or no longer waits. */
  async allow(user: UserId, request: DeviceRequestId, by: Credential): Promise<{ name: string; lineage: string }> {
    const asked = "SELECT asker FROM device WHERE person = ? AND request = ?"
    const [row] = await this.#engine.query<{ asker: string }>(asked, [user, request])
    // A session is a person who looks at it. A program that could say yes to itself would not have to ask.
    if (row && by.type !== "session" && row.asker === lineageOf(by)) throw failure("own_request")
    const sql = `UPDATE device SET lineage = asker, bound_at = ?, taken_at = ?, request = NULL, asker = NULL,
      asker_credential = NULL, asked_at = NULL WHERE person = ? AND request = ? RETURNING name, lineage`
    // Too early, and a call that went to the former device would count as one that the new one knows nothing of.
    const now = await this.#exactly()
    return this.#change<{ name: string; lineage: string }>(sql, [now, now, user, request])
  }

  /** Throws `not_found` as `allow` does. */
  async refuse(user: UserId, request: DeviceRequestId): Promise<void> {
    const sql = `UPDATE device SET request = NULL, asker = NULL, asker_credential = NULL, asked_at = NULL
      WHERE person = ? AND request = ? RETURNING name`
    await this.#change(sql, [user, request])
  }

  /** Devices of these people that were handed over from one credential to another, and whose they are now. */
  async handedOver(users: readonly UserId[]): Promise<HandedOver[]> {
    const found: HandedOver[] = []
    for (let start = 0; start < users.length; start += AT_ONCE) {
      const some = users.slice(start, start + AT_ONCE)
      // A few lengths only, so that a few prepared statements serve all; no id is empty.
      const padded = [...some, ...Array<string>(2 ** Math.ceil(Math.log2(some.length)) - some.length).fill("")]
      const sql = `SELECT person, name, lineage FROM device
        WHERE taken_at IS NOT NULL AND person IN (${padded.map(() => "?").join(", ")})`
      const rows = await this.#engine.query<{ person: UserId; name: string; lineage: string }>(sql, padded)
      for (const { person, name, lineage } of rows) found.push({ user: person, name, lineage })
    }
    return found
  }

  /** The conversation that a device was last spoken in; it may have been erased since, or never have begun. */
  async lastConversation(user: UserId, name: string): Promise<ConversationId | undefined> {
    const sql = "SELECT conversation FROM device WHERE person = ? AND name = ?"
    const [row] = await this.#engine.query<{ conversation: ConversationId | null }>(sql, [user, name])
    return row?.conversation ?? undefined
  }

  /** Noted before the words are said: after a crash in between it names a conversation that never began, not an old one. */
  async speaksIn(user: UserId, name: string, conversation: ConversationId): Promise<void> {
    const sql = "UPDATE device SET conversation = ? WHERE person = ? AND name = ?"
    await this.#engine.change({ type: "statements", statements: [{ sql, values: [conversation, user, name] }] })
  }

  async #find(user: UserId, name: string): Promise<OwnerRow | undefined> {
    const sql = "SELECT lineage, taken_at, asker FROM device WHERE person = ? AND name = ?"
    return (await this.#engine.query<OwnerRow>(sql, [user, name]))[0]
  }

  /** Of racing hellos one binds the name; all see whose it is. */
  async #bind(user: UserId, name: string, lineage: string): Promise<OwnerRow> {
    const sql = `INSERT INTO device (id, person, name, lineage, bound_at) SELECT ?, id, ?, ?, ? FROM person
      WHERE id = ? AND (SELECT count(*) FROM device WHERE person = ? AND lineage = ?) < ? ON CONFLICT (person, name) DO NOTHING`
    const now = this.#now()
    const values = [newId("dev", user, now), name, lineage, now, user, user, lineage, MAX_DEVICES]
    await this.#engine.change({ type: "statements", statements: [{ sql, values }] })
    const row = await this.#find(user, name)
    if (!row) throw failure("too_many", { what: "devices of one token", most: MAX_DEVICES })
    return row
  }

  async #change<Row>(sql: string, values: readonly unknown[]): Promise<Row> {
    const outcome = await this.#engine.change({ type: "statements", statements: [{ sql, values, mustChange: true }] })
    if (!outcome.ok) throw failure("not_found")
    return outcome.rows[0]?.[0] as Row
  }
}

interface OwnerRow {
  readonly lineage: string
  readonly taken_at: number | null
  readonly asker: string | null
}

interface RequestRow {
  readonly request: DeviceRequestId
  readonly name: string
  readonly asker_credential: string
  readonly asked_at: number
  readonly token: string | null
}
