import type { Loads } from "../../engine/journal.ts"
import type { ConversationId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"
import type { ThisNode } from "./nodes.ts"

/** Beside `conversation`: no other living node is about to take it up. Wants the id of this node. */
export const NOT_EARMARKED = `NOT EXISTS (SELECT 1 FROM earmark e JOIN node n ON n.id = e.node
  WHERE e.conversation = conversation.key AND e.node <> ?)`

/**
 * Says which node is about to take up what a dead one has left. Only a word to the others, so that they spare themselves
 * the reading: who becomes the writer is decided by the claim. The word of a node that has died counts no more.
 */
export class Earmarks {
  readonly #engine: Engine
  readonly #node: ThisNode
  /** What this node has put its mark on and not taken it off. */
  readonly #ours = new Set<ConversationId>()

  constructor(engine: Engine, node: ThisNode) {
    this.#engine = engine
    this.#node = node
  }

  /** Of those that nobody works on and no other node has marked, at most so many. */
  async mark(ids: readonly ConversationId[], most: number): Promise<ConversationId[]> {
    const { id: node } = this.#node
    await this.#node.alive() // the mark of a node that has no row counts for nothing
    // At random, so that nodes which look at the same time do not want the same ones. Where two do, the second passes over
    // the row while the first has it locked, and finds the mark by the conflict after that.
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
    for (const id of marked) this.#ours.add(id)
    return marked
  }

  /** Also takes off what an earlier call could not, and what nodes have left that are gone. */
  async unmark(ids: readonly ConversationId[]): Promise<void> {
    for (const id of ids) this.#ours.delete(id)
    const sql = `DELETE FROM earmark WHERE (node = ? AND conversation NOT IN
        (SELECT key FROM conversation WHERE id = ANY (?::text[])))
      OR NOT EXISTS (SELECT 1 FROM node WHERE node.id = earmark.node)`
    const values = [this.#node.id, [...this.#ours]]
    await this.#engine.change({ type: "statements", statements: [{ sql, values }] })
  }

  /** How much each living node has at work or is about to take up. */
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
