import { EVENT_VERSION, type EventType, type JournalEvent } from "../../core/protocol/events.ts"
import type { RecordedEvent } from "../../core/protocol/conversation/conversation.ts"
import { type Follow, Following, type TimelineEntry } from "./following.ts"
import { follow } from "./follow.ts"
import { type Totals, totalsOf } from "./totals.ts"

/** How a run spent its time, in order of start. */
export interface RunTimeline {
  readonly startedAt: number
  /** When the last event was recorded. */
  readonly until: number
  readonly entries: readonly TimelineEntry[]
  readonly totals: Totals
}

/** Returns the event; undefined if a newer version wrote it. */
const known = (row: RecordedEvent): JournalEvent | undefined =>
  row.version === EVENT_VERSION && Object.hasOwn(follow, row.type) ? (row as unknown as JournalEvent) : undefined

/** Events that can follow the end of a run without being part of it. */
const BEHIND: ReadonlySet<string> = new Set(["settings", "grant_revoked", "late_result"])

/**
 * Computes the timeline of a run from its events. Pure. `now` ends the last entry of a run that is still active or
 * waiting.
 */
export function toTimeline(rows: readonly RecordedEvent[], now?: number): RunTimeline {
  const startedAt = rows[0]?.at ?? 0
  const following = new Following(startedAt)
  let [until, isOver] = [startedAt, false]
  for (const row of rows) {
    const event = known(row)
    if (event) (follow[event.type] as Follow<EventType>)(following, event)
    else following.add({ position: row.position, kind: "other", at: row.at, title: `${row.type}, of a newer Pawl` })
    following.before = Math.max(following.before, row.at)
    isOver = row.type === "run_ended" || (isOver && BEHIND.has(row.type))
    if (row.type === "run_ended" || !isOver) until = row.at
  }
  if (!isOver && now !== undefined) {
    until = Math.max(until, now)
    const last = rows.at(-1)
    // No wait and no call: usually a model call, which has no event before its answer.
    if (last && following.open.size === 0)
      following.begin("", { position: last.position, kind: "other", at: following.before, title: "At work" })
  }
  const entries = following.entries.toSorted((a, b) => a.at - b.at || a.position - b.position)
  for (const entry of following.open.values()) entry.ms = Math.max(0, until - entry.at)
  return { startedAt, until, entries, totals: totalsOf(entries, until - startedAt) }
}
