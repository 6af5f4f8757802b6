import type { ConversationId, UserId } from "../../protocol/ids.ts"
import type { ArrivingDevice, DevicePresence, Introduced, PresentDevice, WhichDevice } from "../../engine/devices.ts"
import type { Engine } from "../engine/engine.ts"
import type { Statement } from "../engine/operations.ts"

/** This process among those that share the database: rows here hang on its row there. */
interface OwnNode {
  readonly id: string
  alive(): Promise<void>
  sign(): Promise<void>
}

interface Noted extends ArrivingDevice {
  readonly conversation: ConversationId | undefined
}

const COLUMNS = "node, person, name, conversation, lineage, introduced, connected_at"
/** Only of the credential whose device it is by now: what was handed over a moment ago is asked nothing more. */
const OWNED = "JOIN device owned ON owned.person = c.person AND owned.name = c.name AND owned.lineage = c.lineage"
const PRESENT = "SELECT c.number, c.node, c.person, c.lineage, c.introduced, c.connected_at FROM connected_device c"

/** Which devices are connected to which process. */
export class SqlDevicePresence implements DevicePresence {
  readonly #engine: Engine
  readonly #node: OwnNode
  /** What is connected here, as the record should have it. */
  readonly #here = new Map<number, Noted>()
  /** Rows of ours that nothing here stood for at the last repair: one that is just being written looks the same. */
  #surplus: ReadonlySet<number> = new Set()
  /** A change has failed, or nobody knows whether it was done: a row may be left that nothing stands for. */
  #isUnsure = false

  constructor(engine: Engine, node: OwnNode) {
    this.#engine = engine
    this.#node = node
  }

  /** As long as it does, this process must give signs of life. */
  get holds(): boolean {
    return this.#here.size > 0
  }

  async arrive(device: ArrivingDevice): Promise<number> {
    const noted = { ...device, conversation: undefined }
    const sql = `INSERT INTO connected_device (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING number`
    const number = await this.#note({ sql, values: this.#valuesOf(noted) })
    if (number === undefined) throw new Error("a new row has no number")
    this.#here.set(number, noted)
    return number
  }

  async speak(device: ArrivingDevice, conversation: ConversationId): Promise<number | undefined> {
    const noted = { ...device, conversation }
    // One statement: of two credentials that speak at the same moment one is the device, and the other is told.
    const sql = `INSERT INTO connected_device (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (conversation) DO UPDATE SET number = excluded.number, node = excluded.node, person = excluded.person,
        lineage = excluded.lineage, introduced = excluded.introduced, connected_at = excluded.connected_at
      WHERE connected_device.lineage = excluded.lineage RETURNING number`
    const number = await this.#note({ sql, values: this.#valuesOf(noted) })
    if (number !== undefined) this.#here.set(number, noted)
    return number
  }

  async leave(numbers: readonly number[]): Promise<void> {
    for (const number of numbers) this.#here.delete(number)
    await this.#remove(numbers)
  }

  async findElsewhere(which: WhichDevice): Promise<PresentDevice | undefined> {
    const named = "deviceId" in which
    const sql = named
      ? `${PRESENT} ${OWNED} WHERE c.person = ? AND c.name = ? AND c.node <> ? ORDER BY c.number DESC LIMIT 1`
      : `${PRESENT} WHERE c.person = ? AND c.conversation = ? AND c.node <> ?`
    const values = [which.user, named ? which.deviceId : which.conversation, this.#node.id]
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
    if (this.#here.size === 0 && !this.#isUnsure) return
    await this.#node.alive()
    const rows = await this.#engine.query<{ number: number }>("SELECT number FROM connected_device WHERE node = ?", [
      this.#node.id,
    ])
    const noted = new Set(rows.map(({ number }) => number))
    const missing = [...this.#here].filter(([number]) => !noted.has(number))
    // Under the number it had: being noted again makes nobody the newest.
    for (const [number, each] of missing) await this.#noteAgain(number, each)
    const surplus = [...noted].filter((number) => !this.#here.has(number))
    await this.#remove(surplus.filter((number) => this.#surplus.has(number)))
    this.#surplus = new Set(surplus)
    this.#isUnsure = surplus.length > 0
  }

  /** What was erased meanwhile, or spoken in by somebody else, stays away. */
  async #noteAgain(number: number, noted: Noted): Promise<void> {
    const { user, conversation, introduced, lineage } = noted
    const [still, values] = conversation
      ? ["SELECT 1 FROM conversation WHERE id = ?", [conversation]]
      : ["SELECT 1 FROM device WHERE person = ? AND name = ? AND lineage = ?", [user, introduced?.deviceId, lineage]]
    if ((await this.#engine.query(still, values)).length === 0 || !this.#here.has(number)) return
    const sql = `INSERT INTO connected_device (number, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT DO NOTHING RETURNING number`
    await this.#note({ sql, values: [number, ...this.#valuesOf(noted)] })
  }

  #valuesOf({ user, lineage, introduced, connectedAt, conversation }: Noted): unknown[] {
    const name = conversation ? null : (introduced?.deviceId ?? null)
    const said = introduced ? JSON.stringify(introduced) : null
    return [this.#node.id, user, name, conversation ?? null, lineage, said, connectedAt]
  }

  /** Where this process was struck off between its sign of life and the row that hangs on it, both are tried once more. */
  async #note(statement: Statement): Promise<number | undefined> {
    const write = async () => {
      const outcome = await this.#engine.change({ type: "statements", statements: [statement] })
      return outcome.ok ? (outcome.rows[0]?.[0] as { number: number } | undefined)?.number : undefined
    }
    await this.#node.alive()
    try {
      return await write()
    } catch {
      this.#isUnsure = true
      await this.#node.sign()
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
  const said = introduced === null ? undefined : (JSON.parse(introduced) as Introduced)
  return { number, node, user: person, lineage, introduced: said, connectedAt: connected_at }
}
