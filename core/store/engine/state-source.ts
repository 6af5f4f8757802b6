import { EVENTS_TO_REPLAY, type EventRow } from "./event-rows.ts"

/** The row of a conversation with its snapshot of the current version, if there is one. */
export interface StateRow {
  readonly key: number
  readonly user_id: string
  readonly fence: number
  readonly arrivals: number
  readonly seen: number
  readonly owner: string | null
  readonly snapshot_position: number | null
  readonly snapshot: string | null
}

/**
 * The input from which a conversation's state is computed. If there is a snapshot, `events` is empty, because few of
 * them are needed then. The row is read first, so it may miss a snapshot that was stored in between; `events` is empty
 * then, too.
 */
export interface StateSource {
  readonly row: StateRow
  readonly events: readonly EventRow[]
}

/** Values: the snapshot version and the conversation's id. Columns in the order of `StateRow`. */
export const STATE_ROW = `SELECT c.key, p.id AS user_id, c.fence, c.arrivals, c.seen, c.owner, k.position AS snapshot_position, k.body AS snapshot
  FROM conversation c JOIN person p ON p.key = c.person
  LEFT JOIN kept_fold k ON k.conversation = c.key AND k.version = ? WHERE c.id = ?`

/** Same values. The events for a replay, if the conversation has no snapshot. */
export const EVENTS_WITHOUT_SNAPSHOT = `WITH whose AS (SELECT key FROM conversation c
    WHERE NOT EXISTS (SELECT 1 FROM kept_fold k WHERE k.conversation = c.key AND k.version = ?) AND c.id = ?),
  ${EVENTS_TO_REPLAY.replace(/^WITH /, "").replaceAll("conversation = ?", "conversation = (SELECT key FROM whose)")}`
