import { type KeyboardEvent, useMemo, useState } from "react"
import type { RunTimeline, TimelineEntry } from "../../../client/index.ts"
import type { RecordedEvent, RunStatus } from "../../../core/protocol/index.ts"
import { t } from "../strings/strings.ts"
import { describeEntries } from "./describe-run.ts"
import { EntryRow } from "./entry-row.tsx"

interface TimelineProps {
  readonly timeline: RunTimeline
  readonly rows: readonly RecordedEvent[]
  readonly status: RunStatus
  readonly onState: ((position: number) => void) | undefined
}

/** The timeline of a run in the order of its start times. The arrow keys move between lines, Enter opens one. */
export function Timeline({ timeline, rows, status, onState }: TimelineProps) {
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const toggle = (key: string) => {
    const next = new Set(opened)
    if (!next.delete(key)) next.add(key)
    setOpened(next)
  }
  const keys = useMemo(() => keysOf(timeline.entries), [timeline])
  const texts = useMemo(() => describeEntries(timeline.entries, rows), [timeline, rows])
  return (
    <>
      <ol aria-label={t("runs.timeline")} className="@container -mx-2" onKeyDown={moveByArrows}>
        {timeline.entries.map((entry, index) => {
          const key = keys[index] ?? ""
          return (
            <EntryRow
              key={key}
              entry={entry}
              text={texts[index] ?? entry}
              timeline={timeline}
              rows={rows}
              isOpen={opened.has(key)}
              onToggle={() => toggle(key)}
              onState={onState}
            />
          )
        })}
      </ol>
      {(status === "running" || status === "paused") && (
        <p role="status" className="flex items-center gap-2.5 py-2 text-sm text-soft">
          <span className={`size-2 rounded-full ${status === "running" ? "pulse bg-accent" : "bg-warn"}`} />
          {t(status === "running" ? "runs.stillRunning" : "runs.stillWaiting")}
        </p>
      )}
    </>
  )
}

/** Later entries may be inserted above: a key is the row, and a number among those of one row. */
function keysOf(entries: readonly TimelineEntry[]): string[] {
  const counts = new Map<number, number>()
  return entries.map(({ position }) => {
    const count = counts.get(position) ?? 0
    counts.set(position, count + 1)
    return `${position}.${count}`
  })
}

/** Up and down move between the lines of a list, which have `data-line`. */
export function moveByArrows(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const lines = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-line]")]
  const now = lines.indexOf(event.target as HTMLElement)
  if (step === undefined || now === -1) return
  event.preventDefault()
  lines[now + step]?.focus()
}
