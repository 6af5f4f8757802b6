import { type KeyboardEvent, useState } from "react"
import type { RunTimeline } from "../../src/client/index.ts"
import type { RecordedEvent, RunStatus } from "../../src/protocol/index.ts"
import { EntryRow } from "./entry-row.tsx"

interface TimelineProps {
  readonly timeline: RunTimeline
  readonly rows: readonly RecordedEvent[]
  readonly status: RunStatus
  readonly onState: ((position: number) => void) | undefined
}

/** What a run was spent on, in the order in which it began. The arrow keys go from line to line, Enter opens one. */
export function Timeline({ timeline, rows, status, onState }: TimelineProps) {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set())
  const toggle = (index: number) => {
    const next = new Set(opened)
    if (!next.delete(index)) next.add(index)
    setOpened(next)
  }
  return (
    <>
      <ol aria-label="Timeline" className="@container -mx-2" onKeyDown={moveByArrows}>
        {timeline.entries.map((entry, index) => (
          <EntryRow
            // In the order of their rows, which are only ever added; some rows have more than one line.
            key={index}
            entry={entry}
            timeline={timeline}
            rows={rows}
            isOpen={opened.has(index)}
            onToggle={() => toggle(index)}
            onState={onState}
          />
        ))}
      </ol>
      {(status === "running" || status === "paused") && (
        <p role="status" className="flex items-center gap-2.5 py-2 text-sm text-soft">
          <span className={`size-2 rounded-full ${status === "running" ? "pulse bg-accent" : "bg-warn"}`} />
          {status === "running" ? "The run goes on" : "The run waits, and goes on here when it does"}
        </p>
      )}
    </>
  )
}

function moveByArrows(event: KeyboardEvent<HTMLOListElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const lines = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-line]")]
  const now = lines.indexOf(event.target as HTMLElement)
  if (step === undefined || now === -1) return
  event.preventDefault()
  lines[now + step]?.focus()
}
