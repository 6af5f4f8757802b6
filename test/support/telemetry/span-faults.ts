import type { JournalEvent } from "../../../core/protocol/events.ts"
import type { ConversationId } from "../../../core/protocol/ids.ts"
import { type PositionedSpan, type RecordedRun, runSpans } from "../../../core/telemetry/run-spans.ts"

/** Each run of a journal, from its start to the next. */
export function runsIn(events: readonly JournalEvent[]): JournalEvent[][] {
  const runs: JournalEvent[][] = []
  for (const event of events) {
    if (event.type === "run_started") runs.push([])
    runs.at(-1)?.push(event)
  }
  return runs
}

const spansOf = (events: readonly JournalEvent[]): PositionedSpan[] =>
  runSpans(
    { conversation: "conv_1" as ConversationId, agent: "test", events: events as unknown as RecordedRun["events"] },
    { content: true },
  )

/**
 * Returns the faults in a journal's spans: a span that is exported twice, that has no parent, or that a later event
 * changes after its end, so that two processes would export it differently.
 */
export function spanFaultsIn(events: readonly JournalEvent[]): string[] {
  return runsIn(events).flatMap((run) => {
    const spans = spansOf(run)
    const ids = new Set(spans.map(({ id }) => id))
    const isOver = run.some(({ type }) => type === "run_ended")
    const [last] = spans.slice(-1)
    const faults = spans
      .filter(({ parent }) => isOver && parent !== undefined && !ids.has(parent))
      .map(({ name }) => `${name} is part of nothing`)
    if (ids.size < spans.length) faults.push("a span is told twice")
    if (isOver && !spans.some(({ parent }) => parent === undefined))
      faults.push(`no span for the run, but ${last?.name}`)
    const half = run.slice(0, Math.ceil(run.length / 2))
    const upTo = half.at(-1)?.position ?? 0
    const sooner = JSON.stringify(spansOf(half))
    const later = JSON.stringify(spans.filter(({ position }) => position <= upTo))
    if (sooner !== later) faults.push(`spans change after they have ended: ${sooner} ${later}`)
    return faults
  })
}
