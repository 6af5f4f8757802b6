import { failure } from "../../protocol/errors.ts"
import { type ConversationId, type DeviceRequestId, newId, type UserId } from "../../protocol/ids.ts"
import { type Credential, type DeviceRequest, lineageOf } from "../../protocol/account/sign-in.ts"
import type { Engine } from "../engine/engine.ts"
import { toTime } from "../engine/row-values.ts"

/** The maximum devices of one credential, so that a program cannot fill the table. */
const MAX_DEVICES = 1000
const AT_ONCE = 1024

export interface TransferredDevice {
  readonly user: UserId
  readonly name: string
  readonly lineage: string
}

/** The result of a device's registration. `takenAt`: when this credential was allowed to take over the device. */
export type ClaimResult =
  | { readonly owned: true; readonly takenAt: number | null }
  | { readonly owned: false; readonly asked: "now" | "before" }

/**
 * Which credential owns which device of a person. The first one to register a name owns it, until the person decides
 * otherwise.
 */
export class SqlDeviceOwners {
  readonly #engine: Engine
  readonly #now: () => number
  readonly #exactNow: () => Promise<number>

  /** `exactNow`: an accurate time, because `now` may be slightly out of date. */
  constructor(engine: Engine, now: () => number, exactNow = async () => now()) {
    this.#engine = engine
    this.#now = now
    this.#exactNow = exactNow
  }

  /** Registers an unused name, and otherwise asks the person. */
  async claim(user: UserId, name: string, credential: Credential): Promise<ClaimResult> {
    const lineage = lineageOf(credential)
    const row = (await this.#find(user, name)) ?? (await this.#bind(user, name, lineage))
    if (row.lineage === lineage) return { owned: true, takenAt: row.taken_at }
    if (row.asker === lineage) return { owned: false, asked: "before" }
    const now = this.#now()
    // One request per device, the newest. Approval names the request, so that it cannot be replaced by another.
    const sql = `UPDATE device SET request = ?, asker = ?, asker_credential = ?, asked_at = ?
      WHERE person = ? AND name = ? AND lineage <> ?`
    const asker = `${credential.type} ${credential.id}`
    const values = [newId("dreq", user, now), lineage, asker, now, user, name, lineage]
    await this.#engine.change({ type: "statements", statements: [{ sql, values }] })
    return { owned: false, asked: "now" }
  }

  /** Requests that wait for the person's decision, newest first. */
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

  /**
   * Gives the device to the asked. Throws `not_found` for a request of another person or one that no longer waits.
   */
  async allow(user: UserId, request: DeviceRequestId, by: Credential): Promise<{ name: string; lineage: string }> {
    const asked = "SELECT asker FROM device WHERE person = ? AND request = ?"
    const [row] = await this.#engine.query<{ asker: string }>(asked, [user, request])
    // A session belongs to a person who looks at the request. A program must not approve its own request.
    if (row && by.type !== "session" && row.asker === lineageOf(by)) throw failure("own_request")
    const sql = `UPDATE device SET lineage = asker, bound_at = ?, taken_at = ?, request = NULL, asker = NULL,
      asker_credential = NULL, asked_at = NULL WHERE person = ? AND request = ? RETURNING name, lineage`
    // With a time that is too early, a call to the previous device would count as unknown to the new one.
    const now = await this.#exactNow()
    return this.#change<{ name: string; lineage: string }>(sql, [now, now, user, request])
  }

  /** Throws `not_found` like `allow`. */
  async refuse(user: UserId, request: DeviceRequestId): Promise<void> {
    const sql = `UPDATE device SET request = NULL, asker = NULL, asker_credential = NULL, asked_at = NULL
      WHERE person = ? AND request = ? RETURNING name`
    await this.#change(sql, [user, request])
  }

  /** Devices of these people that changed their owner, with the new owner. */
  async handedOver(users: readonly UserId[]): Promise<TransferredDevice[]> {
    const found: TransferredDevice[] = []
    for (let start = 0; start < users.length; start += AT_ONCE) {
      const some = users.slice(start, start + AT_ONCE)
      // Padded to a few lengths, so that few different statements are prepared.
      const padded = [...some, ...Array<string>(2 ** Math.ceil(Math.log2(some.length)) - some.length).fill("")]
      const sql = `SELECT person, name, lineage FROM device
        WHERE taken_at IS NOT NULL AND person IN (${padded.map(() => "?").join(", ")})`
      const rows = await this.#engine.query<{ person: UserId; name: string; lineage: string }>(sql, padded)
      for (const { person, name, lineage } of rows) found.push({ user: person, name, lineage })
    }
    return found
  }

  /** The last conversation of a device. It may have been erased, or may never have started. */
  async lastConversation(user: UserId, name: string): Promise<ConversationId | undefined> {
    const sql = "SELECT conversation FROM device WHERE person = ? AND name = ?"
    const [row] = await this.#engine.query<{ conversation: ConversationId | null }>(sql, [user, name])
    return row?.conversation ?? undefined
  }

  /** Recorded before the message: a crash in between leaves a conversation that never started, not an old one. */
  async speaksIn(user: UserId, name: string, conversation: ConversationId): Promise<void> {
    const sql = "UPDATE device SET conversation = ? WHERE person = ? AND name = ?"
    await this.#engine.change({ type: "statements", statements: [{ sql, values: [conversation, user, name] }] })
  }

  async #find(user: UserId, name: string): Promise<OwnerRow | undefined> {
    const sql = "SELECT lineage, taken_at, asker FROM device WHERE person = ? AND name = ?"
    return (await this.#engine.query<OwnerRow>(sql, [user, name]))[0]
  }

  /** If registrations race, one gets the name, and all of them return the owner. */
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
