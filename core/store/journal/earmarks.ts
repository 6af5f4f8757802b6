import type { Loads } from "../../engine/journal.ts"
import type { ConversationId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"
import type { ThisNode } from "./nodes.ts"

/** SQL next to `conversation`: no other live node is about to take it over. Needs this node's id. */
export const NOT_EARMARKED = `NOT EXISTS (SELECT 1 FROM earmark e JOIN node n ON n.id = e.node
  WHERE e.conversation = conversation.key AND e.node <> ?)`

/**
 * Announces which node is about to take over a failed node's conversation. Only a hint that saves other nodes the
 * reading: the claim decides. The mark of a failed node does not count.
 */
export class Earmarks {
  readonly #engine: Engine
  readonly #node: ThisNode
  /** The marks that this node has set and not removed. */
  readonly #marked = new Set<ConversationId>()

  constructor(engine: Engine, node: ThisNode) {
    this.#engine = engine
    this.#node = node
  }

  /** Marks at most this many of the conversations that have no writer and no mark. */
  async mark(ids: readonly ConversationId[], most: number): Promise<ConversationId[]> {
    const { id: node } = this.#node
    await this.#node.alive() // a mark of a node without a row does not count
    // At random, so that nodes that look at the same time choose different ones. If two choose the same one, the second
    // skips the locked row, and later finds the mark by the conflict.
    const sql = `WITH free AS (
        SELECT key, id FROM conversation
        WHERE id = ANY (?::text[]) AND (owner IS NOT NULL OR arrivals <> seen) AND (owner IS NULL OR owner = ?
          OR NOT EXISTS (SELECT 1 FROM node WHERE node.id = owner)) AND ${NOT_EARMARKED}
        ORDER BY random() LIMIT ? ${this.#engine.skipLocked ?? ""}),
      marked AS (INSERT INTO earmark (conversation, node) SELECT key, ? FROM free
        ON CONFLICT (conversation) DO UPDATE SET node = excluded.node
          WHERE earmark.node = excluded.node OR NOT EXISTS (SELECT 1 FROM node WHERE node.id = earmark.node)
        RETURNING conversation)
      SELECT free.id FROM free JOIN marked ON marked.conversation = free.key`
    const values = [ids, node, node, most, node]
    const outcome = await this.#engine.change({ type: "statements", statements: [{ sql, values }] })
    const marked = outcome.ok ? (outcome.rows[0] ?? []).map(({ id }) => id as ConversationId) : []
    for (const id of marked) this.#marked.add(id)
    return marked
  }

  /** Also removes marks that an earlier call failed to remove, and those of failed nodes. */
  async unmark(ids: readonly ConversationId[]): Promise<void> {
    for (const id of ids) this.#marked.delete(id)
    const sql = `DELETE FROM earmark WHERE (node = ? AND conversation NOT IN
        (SELECT key FROM conversation WHERE id = ANY (?::text[])))
      OR NOT EXISTS (SELECT 1 FROM node WHERE node.id = earmark.node)`
    const values = [this.#node.id, [...this.#marked]]
    await this.#engine.change({ type: "statements", statements: [{ sql, values }] })
  }

  /** How many conversations each live node has or is about to take over. */
  async loads(): Promise<Loads> {
    const sql = `SELECT id, (SELECT count(*) FROM conversation WHERE owner = node.id)
        + (SELECT count(*) FROM earmark e JOIN conversation c ON c.key = e.conversation
          WHERE e.node = node.id AND c.owner IS DISTINCT FROM e.node) AS load
      FROM node`
    const rows = await this.#engine.query<{ id: string; load: number }>(sql, [])
    const here = rows.find(({ id }) => id === this.#node.id)?.load ?? 0
    return { here, others: rows.filter(({ id }) => id !== this.#node.id).map(({ load }) => load) }
  }
}
