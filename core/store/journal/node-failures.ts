import type { NodeFailure, Judgement } from "../../engine/journal.ts"
import type { ConversationId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"

const ROWS_OF_A_STEP = 64

/**
 * Conversations of failed nodes, with the recorded verdicts on why the nodes failed. A verdict is stored while
 * conversations of its node are left.
 */
export class NodeFailures {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** `handedOver`: the owner of conversations that were released properly, without a failure. */
  async suspected(handedOver: string): Promise<NodeFailure[]> {
    // A failing step leaves few rows. With more rows the run has made progress.
    const again = `EXISTS (SELECT 1 FROM event WHERE conversation = key AND type = 'restarted'
      AND position > (SELECT max(position) FROM event WHERE conversation = key) - ${ROWS_OF_A_STEP})`
    const sql = `SELECT id, owner, CASE WHEN ${again} THEN 1 ELSE 0 END AS again FROM conversation
      WHERE owner IS NOT NULL AND owner <> ? AND NOT EXISTS (SELECT 1 FROM node WHERE node.id = owner) LIMIT 10000`
    type Row = { id: ConversationId; owner: string; again: number }
    const left = Map.groupBy(await this.#engine.query<Row>(sql, [handedOver]), ({ owner }) => owner)
    if (left.size === 0) return []
    const judged = await this.#verdicts()
    return [...left].flatMap(([node, group]) => {
      const known = judged.get(node)
      if (!known && group.every(({ again }) => again === 0)) return []
      return [{ node, ids: group.map(({ id }) => id), ...(known ? { judged: known } : {}) }]
    })
  }

  /** The first verdict counts. Deletes verdicts on nodes that have no conversations left. */
  async judge(node: string, judged: Judgement): Promise<Judgement> {
    const deleteOthers = {
      sql: "DELETE FROM death WHERE node <> ? AND NOT EXISTS (SELECT 1 FROM conversation WHERE owner = node)",
      values: [node],
    }
    const insert = {
      sql: "INSERT INTO death (node, judged) VALUES (?, ?) ON CONFLICT (node) DO NOTHING",
      values: [node, JSON.stringify(judged)],
    }
    await this.#engine.change({ type: "statements", statements: [deleteOthers, insert] })
    return (await this.#verdicts()).get(node) ?? judged
  }

  async #verdicts(): Promise<Map<string, Judgement>> {
    type Row = { node: string; judged: string }
    const rows = await this.#engine.query<Row>("SELECT node, judged FROM death", [])
    return new Map(rows.map(({ node, judged }) => [node, JSON.parse(judged) as Judgement]))
  }
}
