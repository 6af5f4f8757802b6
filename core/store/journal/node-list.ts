import type { NodeId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"

/** A node of this database, as an operator sees it. All times are by the database's clock. */
export interface ListedNode {
  readonly id: NodeId
  readonly since: number
  /** Milliseconds since its last heartbeat. */
  readonly silentMs: number
  /** How far its own clock was ahead at that time. */
  readonly aheadMs: number
  /** Conversations that it writes. */
  readonly leases: number
}

/** For operators only: counts decide which node is alive, never these times. */
export class NodeList {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Oldest first. Empty if no other process can use the database. */
  async read(): Promise<ListedNode[]> {
    const { serverTime } = this.#engine
    if (!serverTime) return []
    return this.#engine.query<ListedNode>(
      `SELECT id, since, ${serverTime} - signed_at AS "silentMs", own_time - signed_at AS "aheadMs",
        (SELECT count(*) FROM conversation WHERE owner = node.id) AS leases
      FROM node WHERE signed_at IS NOT NULL ORDER BY since, id`,
      [],
    )
  }

  /** How far this machine's clock is ahead of the database's; undefined if they are the same clock. */
  async aheadMs(now: () => number): Promise<number | undefined> {
    const { serverTime } = this.#engine
    if (!serverTime) return undefined
    const before = now()
    const [row] = await this.#engine.query<{ now: number }>(`SELECT ${serverTime} AS now`, [])
    // The database read its clock somewhere in between.
    return row && Math.round((before + now()) / 2 - row.now)
  }
}
