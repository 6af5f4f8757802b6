import { EVENTS_TO_FOLD, type EventRow } from "./event-rows.ts"

/** The row of a conversation as whoever folds it needs it, with the fold that is kept of it in one version, if one is. */
export interface FoldRow {
  readonly key: number
  readonly user_id: string
  readonly fence: number
  readonly arrivals: number
  readonly seen: number
  readonly owner: string | null
  readonly kept: number | null
  readonly fold: string | null
}

/**
 * What a conversation is folded from. Where a fold is kept there are no events: few of them are needed then. The row is read
 * first, so that of a fold that was kept in between it says nothing, and there are no events all the same.
 */
export interface FoldSource {
  readonly row: FoldRow
  readonly events: readonly EventRow[]
}

/** With the version of the fold, and the conversation's id; columns in the order of `FoldRow`. */
export const FOLD_ROW = `SELECT c.key, p.id AS user_id, c.fence, c.arrivals, c.seen, c.owner, k.position AS kept, k.body AS fold
  FROM conversation c JOIN person p ON p.key = c.person
  LEFT JOIN kept_fold k ON k.conversation = c.key AND k.version = ? WHERE c.id = ?`

/** The same values: what a fold needs of the events, of a conversation of which no fold is kept. */
export const EVENTS_UNLESS_KEPT = `WITH whose AS (SELECT key FROM conversation c
    WHERE NOT EXISTS (SELECT 1 FROM kept_fold k WHERE k.conversation = c.key AND k.version = ?) AND c.id = ?),
  ${EVENTS_TO_FOLD.replace(/^WITH /, "").replaceAll("conversation = ?", "conversation = (SELECT key FROM whose)")}`
