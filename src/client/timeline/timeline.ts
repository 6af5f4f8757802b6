import { EVENT_VERSION } from "../../protocol/event-version.ts"
import type { EventType, JournalEvent } from "../../protocol/events.ts"
import type { RecordedEvent } from "../../protocol/conversation/run-journal.ts"
import type { TimelineEntry } from "./entry.ts"
import { follow } from "./follow.ts"
import { type Follow, Following } from "./following.ts"
import { type Totals, totalsOf } from "./totals.ts"

/** A run as what it was spent on, in the order in which that began. */
export interface RunTimeline {
  readonly startedAt: number
  /** When the last row was recorded. */
  readonly until: number
  readonly entries: readonly TimelineEntry[]
  readonly totals: Totals
}

/** A row as far as this build knows it; undefined for one that a newer Pawl has written. */
const known = (row: RecordedEvent): JournalEvent | undefined =>
  row.version === EVENT_VERSION && Object.hasOwn(follow, row.type) ? (row as unknown as JournalEvent) : undefined

/** What may stand behind the end of a run and is no part of it: somebody settles something, days later. */
const BEHIND: ReadonlySet<string> = new Set(["settings", "grant_revoked", "late_result"])

/** Pure: the same rows, the same timeline. `now` is how long a run that is not over has been going on, or has waited. */
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
    // Nothing waits and no call is under way: mostly its model has been asked, of which no row tells before it answers.
    if (last && following.open.size === 0)
      following.begin("", { position: last.position, kind: "other", at: following.before, title: "At work" })
  }
  const entries = following.entries.toSorted((a, b) => a.at - b.at || a.position - b.position)
  for (const entry of following.open.values()) entry.ms = Math.max(0, until - entry.at)
  return { startedAt, until, entries, totals: totalsOf(entries, until - startedAt) }
}
