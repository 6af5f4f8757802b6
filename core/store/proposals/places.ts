import type { UserId } from "../../protocol/ids.ts"
import type { ProposalQuery } from "../../protocol/requests.ts"
import { IS_OPEN } from "./states.ts"

interface Sql {
  readonly sql: string
  readonly values: readonly unknown[]
}

export type Which = Omit<ProposalQuery, "cursor" | "limit">

/** SQLite takes a cross join in the order it is written in: from the index that has the few rows that are wanted. */
const FROM =
  "proposal q CROSS JOIN conversation c CROSS JOIN person p WHERE c.key = q.conversation AND p.key = c.person"
const OF_PERSON = "q.person = (SELECT key FROM person WHERE id = ?)"

/** Where the proposals of a person are found, each by an index: in the places together stands every one, in one of them. */
export function placesOf(user: UserId, { status, seen, conversationId }: Which): Sql[] {
  if (conversationId !== undefined)
    return ["q.person IS NULL", "q.person = c.person"].map((whose) => {
      const of =
        "conversation c CROSS JOIN person p CROSS JOIN proposal q WHERE p.key = c.person AND q.conversation = c.key"
      return { sql: `${of} AND c.id = ? AND p.id = ? AND ${whose}`, values: [conversationId, user] }
    })
  // Hardly any, whosesoever they are.
  if (status === "in_doubt") return [{ sql: `${FROM} AND p.id = ? AND q.status = 'in_doubt'`, values: [user] }]
  // Says nothing new, but which index has the few.
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

/** Nothing rings when a proposal expires: one that is still pending after its time counts as expired. */
export function having({ status, seen }: Which, now: number): Sql {
  const known = seen === undefined ? "" : ` AND q.seen_at IS ${seen ? "NOT NULL" : "NULL"}`
  if (status === undefined) return { sql: `q.status = q.status${known}`, values: [] }
  if (status === "pending") return { sql: `q.status = 'pending' AND q.expires_at > ?${known}`, values: [now] }
  if (status !== "expired") return { sql: `q.status = ?${known}`, values: [status] }
  return { sql: `(q.status = 'expired' OR (q.status = 'pending' AND q.expires_at <= ?))${known}`, values: [now] }
}
