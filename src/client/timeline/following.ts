import type { EventOf, EventType } from "../../protocol/events.ts"
import type { TimelineEntry } from "./entry.ts"

/** What is told of a run while its rows are read. */
export class Following {
  readonly entries: TimelineEntry[] = []
  /** What has begun and not ended, by the call or the proposal that it is about. */
  readonly open = new Map<string, TimelineEntry>()
  /** The names of calls, and the calls of proposals. */
  readonly names = new Map<string, string>()
  readonly callOf = new Map<string, string>()
  /** Since when a reply that comes now is worked on: when the row before it was recorded, or a wait for the provider was over. */
  before: number

  constructor(startedAt: number) {
    this.before = startedAt
  }

  add(entry: TimelineEntry): TimelineEntry {
    this.entries.push(entry)
    return entry
  }

  begin(about: string, entry: TimelineEntry): void {
    this.open.set(about, this.add({ ...entry, isOpen: true }))
  }

  /** Ends what was begun about something; undefined where nothing was. */
  end(about: string, { at, position }: EndingRow, detail?: string): TimelineEntry | undefined {
    const entry = this.open.get(about)
    if (!entry) return undefined
    this.open.delete(about)
    delete entry.isOpen
    entry.ms = Math.max(0, at - entry.at)
    entry.endPosition = position
    if (detail !== undefined) entry.detail = entry.detail ? `${entry.detail}: ${detail}` : detail
    return entry
  }

  /** It took at least so long. */
  lengthen(entry: TimelineEntry, { at, ms }: { readonly at: number; readonly ms: number }): void {
    entry.at = Math.min(entry.at, at - ms)
    entry.ms = Math.max(entry.ms ?? 0, ms)
  }
}

type EndingRow = Pick<TimelineEntry, "at" | "position">

/** What an event adds to what is told. */
export type Follow<Type extends EventType> = (following: Following, event: EventOf<Type>) => void
