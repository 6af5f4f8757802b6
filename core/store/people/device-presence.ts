import type { ConversationId, UserId } from "../../protocol/ids.ts"
import type { ArrivingDevice, DevicePresence, Introduced, PresentDevice, WhichDevice } from "../../engine/devices.ts"
import type { Engine } from "../engine/engine.ts"
import type { Statement } from "../engine/operations.ts"

/** This process's row in `node`, which the rows here refer to. */
interface LocalNode {
  readonly id: string
  alive(): Promise<void>
  heartbeat(): Promise<void>
}

interface StoredDevice extends ArrivingDevice {
  readonly conversation: ConversationId | undefined
}

const COLUMNS = "node, person, name, conversation, lineage, introduced, connected_at"
/** Only devices of their current owner: a previous owner's connection gets no further calls. */
const OWNED = "JOIN device owned ON owned.person = c.person AND owned.name = c.name AND owned.lineage = c.lineage"
const PRESENT = "SELECT c.number, c.node, c.person, c.lineage, c.introduced, c.connected_at FROM connected_device c"

/** Which devices are connected to which node. */
export class SqlDevicePresence implements DevicePresence {
  readonly #engine: Engine
  readonly #node: LocalNode
  /** The local connections as they should be stored. */
  readonly #local = new Map<number, StoredDevice>()
  /** Rows without a local connection at the last repair. A row that is just being written looks the same. */
  #surplus: ReadonlySet<number> = new Set()
  /** A change failed or has an unknown outcome, so a row without a connection may be left. */
  #isUnsure = false

  constructor(engine: Engine, node: LocalNode) {
    this.#engine = engine
    this.#node = node
  }

  /** While it is true, this process must send heartbeats. */
  get holds(): boolean {
    return this.#local.size > 0
  }

  async arrive(device: ArrivingDevice): Promise<number> {
    const stored = { ...device, conversation: undefined }
    const sql = `INSERT INTO connected_device (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING number`
    const number = await this.#insert({ sql, values: this.#valuesOf(stored) })
    if (number === undefined) throw new Error("a new row has no number")
    this.#local.set(number, stored)
    return number
  }

  async speak(device: ArrivingDevice, conversation: ConversationId): Promise<number | undefined> {
    const stored = { ...device, conversation }
    // One statement: if two credentials register a conversation at once, one gets it and the other is refused.
    const sql = `INSERT INTO connected_device (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (conversation) DO UPDATE SET number = excluded.number, node = excluded.node, person = excluded.person,
        lineage = excluded.lineage, introduced = excluded.introduced, connected_at = excluded.connected_at
      WHERE connected_device.lineage = excluded.lineage RETURNING number`
    const number = await this.#insert({ sql, values: this.#valuesOf(stored) })
    if (number !== undefined) this.#local.set(number, stored)
    return number
  }

  async leave(numbers: readonly number[]): Promise<void> {
    for (const number of numbers) this.#local.delete(number)
    await this.#remove(numbers)
  }

  async findElsewhere(which: WhichDevice): Promise<PresentDevice | undefined> {
    const isNamed = "deviceId" in which
    const sql = isNamed
      ? `${PRESENT} ${OWNED} WHERE c.person = ? AND c.name = ? AND c.node <> ? ORDER BY c.number DESC LIMIT 1`
      : `${PRESENT} WHERE c.person = ? AND c.conversation = ? AND c.node <> ?`
    const values = [which.user, isNamed ? which.deviceId : which.conversation, this.#node.id]
    const [row] = await this.#engine.query<PresentRow>(sql, values)
    return row && toPresent(row)
  }

  async listElsewhere(user: UserId): Promise<PresentDevice[]> {
    const sql = `${PRESENT} ${OWNED} WHERE c.person = ? AND c.node <> ?`
    return (await this.#engine.query<PresentRow>(sql, [user, this.#node.id])).map(toPresent)
  }

  async nodesWithOthers(user: UserId, deviceId: string, lineage: string): Promise<string[]> {
    const sql = `SELECT DISTINCT node FROM connected_device
      WHERE person = ? AND name = ? AND lineage <> ? AND node <> ?`
    const rows = await this.#engine.query<{ node: string }>(sql, [user, deviceId, lineage, this.#node.id])
    return rows.map(({ node }) => node)
  }

  async living(nodes: readonly string[]): Promise<ReadonlySet<string>> {
    if (nodes.length === 0) return new Set()
    const sql = `SELECT id FROM node WHERE id IN (${nodes.map(() => "?").join(", ")})`
    return new Set((await this.#engine.query<{ id: string }>(sql, nodes)).map(({ id }) => id))
  }

  async hasOthers(): Promise<boolean> {
    return (await this.#engine.query("SELECT 1 FROM node WHERE id <> ? LIMIT 1", [this.#node.id])).length > 0
  }

  async repair(): Promise<void> {
    if (this.#local.size === 0 && !this.#isUnsure) return
    await this.#node.alive()
    const rows = await this.#engine.query<{ number: number }>("SELECT number FROM connected_device WHERE node = ?", [
      this.#node.id,
    ])
    const stored = new Set(rows.map(({ number }) => number))
    const missing = [...this.#local].filter(([number]) => !stored.has(number))
    // With its previous number, so that it does not become the newest one.
    for (const [number, each] of missing) await this.#restore(number, each)
    const surplus = [...stored].filter((number) => !this.#local.has(number))
    await this.#remove(surplus.filter((number) => this.#surplus.has(number)))
    this.#surplus = new Set(surplus)
    this.#isUnsure = surplus.length > 0
  }

  /** Not if its conversation or device was erased or given to another owner. */
  async #restore(number: number, stored: StoredDevice): Promise<void> {
    const { user, conversation, introduced, lineage } = stored
    const [exists, values] = conversation
      ? ["SELECT 1 FROM conversation WHERE id = ?", [conversation]]
      : ["SELECT 1 FROM device WHERE person = ? AND name = ? AND lineage = ?", [user, introduced?.deviceId, lineage]]
    if ((await this.#engine.query(exists, values)).length === 0 || !this.#local.has(number)) return
    const sql = `INSERT INTO connected_device (number, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT DO NOTHING RETURNING number`
    await this.#insert({ sql, values: [number, ...this.#valuesOf(stored)] })
  }

  #valuesOf({ user, lineage, introduced, connectedAt, conversation }: StoredDevice): unknown[] {
    const name = conversation ? null : (introduced?.deviceId ?? null)
    const introduction = introduced ? JSON.stringify(introduced) : null
    return [this.#node.id, user, name, conversation ?? null, lineage, introduction, connectedAt]
  }

  /** If this node's row was deleted between its heartbeat and this insert, both are repeated. */
  async #insert(statement: Statement): Promise<number | undefined> {
    const write = async () => {
      const outcome = await this.#engine.change({ type: "statements", statements: [statement] })
      return outcome.ok ? (outcome.rows[0]?.[0] as { number: number } | undefined)?.number : undefined
    }
    await this.#node.alive()
    try {
      return await write()
    } catch {
      this.#isUnsure = true
      await this.#node.heartbeat()
      return write()
    }
  }

  async #remove(numbers: readonly number[]): Promise<void> {
    if (numbers.length === 0) return
    const sql = `DELETE FROM connected_device WHERE node = ? AND number IN (${numbers.map(() => "?").join(", ")})`
    const statement = { sql, values: [this.#node.id, ...numbers] }
    try {
      await this.#engine.change({ type: "statements", statements: [statement] })
    } catch (error) {
      this.#isUnsure = true
      throw error
    }
  }
}

interface PresentRow {
  readonly number: number
  readonly node: string
  readonly person: UserId
  readonly lineage: string
  readonly introduced: string | null
  readonly connected_at: number
}

function toPresent({ number, node, person, lineage, introduced, connected_at }: PresentRow): PresentDevice {
  const introduction = introduced === null ? undefined : (JSON.parse(introduced) as Introduced)
  return { number, node, user: person, lineage, introduced: introduction, connectedAt: connected_at }
}
