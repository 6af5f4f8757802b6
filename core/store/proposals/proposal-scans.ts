import type { UserId } from "../../protocol/ids.ts"
import type { ProposalQuery } from "../../protocol/requests.ts"
import { IS_OPEN } from "./states.ts"

interface Sql {
  readonly sql: string
  readonly values: readonly unknown[]
}

export type ProposalFilter = Omit<ProposalQuery, "cursor" | "limit">

/** SQLite executes a cross join in the written order, here starting from the most selective index. */
const FROM =
  "proposal q CROSS JOIN conversation c CROSS JOIN person p WHERE c.key = q.conversation AND p.key = c.person"
const OF_PERSON = "q.person = (SELECT key FROM person WHERE id = ?)"

/** The index scans that together find each proposal of a person once. */
export function scansOf(user: UserId, { status, seen, conversationId }: ProposalFilter): Sql[] {
  if (conversationId !== undefined)
    return ["q.person IS NULL", "q.person = c.person"].map((whose) => {
      const of =
        "conversation c CROSS JOIN person p CROSS JOIN proposal q WHERE p.key = c.person AND q.conversation = c.key"
      return { sql: `${of} AND c.id = ? AND p.id = ? AND ${whose}`, values: [conversationId, user] }
    })
  // There are very few, of all people.
  if (status === "in_doubt") return [{ sql: `${FROM} AND p.id = ? AND q.status = 'in_doubt'`, values: [user] }]
  // Redundant conditions that select the partial index.
  const some =
    status === "applying"
      ? ` AND q.${IS_OPEN}`
      : status === "expired" && seen === false
        ? " AND q.status IN ('pending', 'expired') AND q.seen_at IS NULL"
        : ""
  return [
    { sql: `${FROM} AND ${OF_PERSON}${some}`, values: [user] },
    { sql: `${FROM} AND q.person IS NULL AND p.id = ?`, values: [user] },
  ]
}

/** No timer expires a proposal: one that is pending after its time counts as expired. */
export function conditionOf({ status, seen }: ProposalFilter, now: number): Sql {
  const known = seen === undefined ? "" : ` AND q.seen_at IS ${seen ? "NOT NULL" : "NULL"}`
  if (status === undefined) return { sql: `q.status = q.status${known}`, values: [] }
  if (status === "pending") return { sql: `q.status = 'pending' AND q.expires_at > ?${known}`, values: [now] }
  if (status !== "expired") return { sql: `q.status = ?${known}`, values: [status] }
  return { sql: `(q.status = 'expired' OR (q.status = 'pending' AND q.expires_at <= ?))${known}`, values: [now] }
}
