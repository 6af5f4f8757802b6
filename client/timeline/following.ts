import type { Usage } from "../../core/protocol/conversation/message.ts"
import type { EventOf, EventType } from "../../core/protocol/events.ts"

/** The timeline of a run while its events are read. */
export class Following {
  readonly entries: TimelineEntry[] = []
  /** Entries that have started and not ended, by the id of their call or proposal. */
  readonly open = new Map<string, TimelineEntry>()
  /** The names of calls, and the calls of proposals. */
  readonly names = new Map<string, string>()
  readonly callOf = new Map<string, string>()
  /** When work on the next reply started: at the previous event, or at the end of a wait for the provider. */
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

  /** Ends the open entry of a call or proposal; returns undefined if there is none. */
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

  /** Extends an entry to at least this duration. */
  lengthen(entry: TimelineEntry, { at, ms }: { readonly at: number; readonly ms: number }): void {
    entry.at = Math.min(entry.at, at - ms)
    entry.ms = Math.max(entry.ms ?? 0, ms)
  }
}

type EndingRow = Pick<TimelineEntry, "at" | "position">

/** Adds an event to the timeline. */
export type Follow<Type extends EventType> = (following: Following, event: EventOf<Type>) => void

/** The kinds of entries in a run's timeline, such as a model call, a tool call, or a wait. */
export type TimelineKind =
  /** A user's message. */
  | "words"
  | "model"
  /** A stage of the agent, such as a guardrail or routing. */
  | "stage"
  | "call"
  /** Waiting for a person, a client or a provider. */
  | "wait"
  /** A retry, a restart, or a fallback to another model. */
  | "trouble"
  /** The history was shortened. */
  | "room"
  | "other"
  | "end"

/** One entry in a run's timeline: a period, such as a model call, or one moment. */
export interface TimelineEntry {
  /** The event that it starts with. */
  readonly position: number
  /** The event that it ends with, if it is another one. */
  endPosition?: number
  readonly kind: TimelineKind
  /** For `trouble`: a request was retried, the server continued after a crash, or another model answered. */
  readonly trouble?: "retry" | "restart" | "fallback"
  at: number
  /** The duration in milliseconds; undefined for a moment. */
  ms?: number
  /** True if it had not ended at the last event. */
  isOpen?: true
  readonly title: string
  /** The outcome in one line. */
  detail?: string
  usage?: Usage
}
