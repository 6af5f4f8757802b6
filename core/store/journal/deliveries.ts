import type { ConversationId, ProposalId, UserId } from "../../protocol/ids.ts"
import type { Proposal } from "../../protocol/proposals/proposal.ts"
import type { Engine } from "../engine/engine.ts"
import { ProposalOwners } from "../proposals/owners.ts"
import { IS_OPEN, openIn } from "../proposals/states.ts"
import type { SqlProposals } from "./proposals.ts"

/** Proposals that were opened together and need a notification. */
export interface DueDelivery {
  readonly conversation: number
  readonly position: number
  readonly conversationId: ConversationId
  readonly user: UserId
}

interface Row {
  readonly conversation: number
  readonly position: number
  readonly conversation_id: ConversationId
  readonly user_id: UserId
}

/**
 * Notifications are derived from the waiting proposals, so none can be lost between an event and its record. A row
 * stores only the progress of a delivery.
 */
export class SqlDeliveries {
  readonly #engine: Engine
  readonly #owners: ProposalOwners
  readonly #proposals: SqlProposals

  constructor(engine: Engine, proposals: SqlProposals) {
    this.#engine = engine
    this.#owners = new ProposalOwners(engine)
    this.#proposals = proposals
  }

  /** Those that were not delivered yet, or whose retry is due. */
  async due(now: number, limit: number): Promise<DueDelivery[]> {
    // Unassigned proposals are in the index of open ones even if they are settled.
    await this.#owners.assign()
    const sql = `SELECT DISTINCT q.conversation, q.position, c.id AS conversation_id, p.id AS user_id
      FROM proposal q JOIN conversation c ON c.key = q.conversation JOIN person p ON p.key = c.person
        LEFT JOIN delivery d ON d.conversation = q.conversation AND d.position = q.position
      WHERE q.${IS_OPEN} AND q.status = 'pending' AND q.expires_at > ?
        AND (d.position IS NULL OR (d.ended_at IS NULL AND d.due_at <= ?))
      ORDER BY q.conversation, q.position LIMIT ?`
    const rows = await this.#engine.query<Row>(sql, [now, now, limit])
    return rows.map(({ conversation, position, conversation_id, user_id }) => {
      return { conversation, position, conversationId: conversation_id, user: user_id }
    })
  }

  /** Claims a delivery and returns the number of the attempt. If this node fails, another one claims it at `until`. */
  async claim({ conversation, position }: DueDelivery, now: number, until: number): Promise<number | undefined> {
    const sql = `INSERT INTO delivery (conversation, position, attempts, due_at) SELECT key, ?, 1, ? FROM conversation
      WHERE key = ? ON CONFLICT (conversation, position) DO UPDATE SET attempts = delivery.attempts + 1,
        due_at = excluded.due_at WHERE delivery.ended_at IS NULL AND delivery.due_at <= ? RETURNING attempts`
    const statement = { sql, values: [position, until, conversation, now], mustChange: true }
    const outcome = await this.#engine.change({ type: "statements", statements: [statement] })
    return outcome.ok ? (outcome.rows[0]?.[0]?.attempts as number) : undefined
  }

  async end({ conversation, position }: DueDelivery, now: number): Promise<void> {
    await this.#set("ended_at", [now, conversation, position])
  }

  async tryAgainAt({ conversation, position }: DueDelivery, at: number): Promise<void> {
    await this.#set("due_at", [at, conversation, position])
  }

  /** All proposals of the event that still wait: one notification covers them. */
  async proposals({ conversation, position, user }: DueDelivery): Promise<Proposal[]> {
    const sql = `SELECT id FROM (${openIn("q.id, q.position, q.status", "c.key = ?")}) AS of
      WHERE position = ? AND status = 'pending' ORDER BY id`
    const rows = await this.#engine.query<{ id: ProposalId }>(sql, [conversation, conversation, position])
    const found = await Promise.all(rows.map(({ id }) => this.#proposals.find(user, id)))
    return found.filter((proposal) => proposal?.status === "pending") as Proposal[]
  }

  async #set(column: "ended_at" | "due_at", values: readonly unknown[]): Promise<void> {
    const sql = `UPDATE delivery SET ${column} = ? WHERE conversation = ? AND position = ?`
    await this.#engine.change({ type: "statements", statements: [{ sql, values }] })
  }
}
