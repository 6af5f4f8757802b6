import type { NodeId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"

/** A node that shares the database, as its operator sees it. All of it by the clock of the database. */
export interface ListedNode {
  readonly id: NodeId
  readonly since: number
  /** How long ago its last sign of life was. */
  readonly silentMs: number
  /** How far its own clock was ahead when it gave it. */
  readonly aheadMs: number
  /** Conversations that it is the writer of. */
  readonly leases: number
}

/** For the eyes of an operator: who is alive is decided by counts, never by these times. */
export class NodeList {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Oldest first. Nothing where no other process can share the database. */
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

  /** How far this machine's clock is ahead of the database's; undefined where it is the same clock. */
  async aheadMs(now: () => number): Promise<number | undefined> {
    const { serverTime } = this.#engine
    if (!serverTime) return undefined
    const asked = now()
    const [row] = await this.#engine.query<{ now: number }>(`SELECT ${serverTime} AS now`, [])
    // The database looked at its clock somewhere in between.
    return row && Math.round((asked + now()) / 2 - row.now)
  }
}
