import { useMemo, useState } from "react"
import { toTimeline } from "../../../client/index.ts"
import type { RecordedEvent } from "../../../core/protocol/index.ts"
import { ChevronRight } from "../components/icons.tsx"
import { CopyButton } from "../components/button.tsx"
import { duration } from "../strings/format.ts"
import { t } from "../strings/strings.ts"
import { describeTotals } from "./describe-run.ts"
import type { RunHead } from "./followed-run.ts"
import { Timeline, moveByArrows } from "./timeline.tsx"
import { RawRow } from "./entry-row.tsx"
import { StateView } from "./state-view.tsx"

const VIEWS = { timeline: "runs.timeline", rows: "runs.rows", state: "runs.state" } as const
type View = keyof typeof VIEWS

interface RunViewProps {
  readonly run: RunHead
  readonly rows: readonly RecordedEvent[]
  /** Undefined if the reader could not use it. */
  readonly id?: string
  /** The conversation whose state can be shown; undefined for a shared run. */
  readonly conversationId?: string
}

/** A run: its totals, and its timeline, its rows, or its state after each row. */
export function RunView({ run, rows, id, conversationId }: RunViewProps) {
  const [view, setView] = useState<View>("timeline")
  const [at, setAt] = useState<number>()
  const timeline = useMemo(() => toTimeline(rows), [rows])
  const shown =
    conversationId === undefined ? (["timeline", "rows"] as const) : (["timeline", "rows", "state"] as const)
  const showState =
    conversationId === undefined
      ? undefined
      : (position: number) => {
          setAt(position)
          setView("state")
        }
  return (
    <>
      <ul aria-label={t("runs.totals")} className="mb-4 space-y-0.5 text-sm text-soft">
        {describeTotals(timeline.totals).map((words) => (
          <li key={words}>{words}</li>
        ))}
        {id !== undefined && (
          <li className="flex items-center gap-1 text-faint">
            <code className="font-mono text-[13px] [overflow-wrap:anywhere]">{id}</code>
            <CopyButton label={t("runs.copyId")} read={() => id} />
          </li>
        )}
      </ul>
      <div role="group" aria-label={t("runs.view")} className="mb-3 flex gap-1 border-b border-line pb-2">
        {shown.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={view === each}
            onClick={() => setView(each)}
            className="rounded-lg px-3 py-1 text-sm text-soft hover:bg-sunken hover:text-ink aria-pressed:bg-accent-soft aria-pressed:text-accent"
          >
            {t(VIEWS[each])}
          </button>
        ))}
      </div>
      {view === "timeline" && <Timeline timeline={timeline} rows={rows} status={run.status} onState={showState} />}
      {view === "rows" && <RowList rows={rows} onState={showState} />}
      {view === "state" && conversationId !== undefined && (
        <StateView conversationId={conversationId} rows={rows} at={at ?? rows.at(-1)?.position ?? 1} onMove={setAt} />
      )}
    </>
  )
}

interface RowListProps {
  readonly rows: readonly RecordedEvent[]
  readonly onState: ((position: number) => void) | undefined
}

/** All recorded rows of a run, one per line. */
function RowList({ rows, onState }: RowListProps) {
  const start = rows[0]?.at ?? 0
  return (
    <ol aria-label={t("runs.rows")} className="-mx-2" onKeyDown={moveByArrows}>
      {rows.map((row) => (
        <li key={row.position} className="border-b border-line last:border-b-0">
          <details className="group/row">
            <summary
              data-line
              className="grid grid-cols-[1rem_3rem_minmax(0,1fr)_auto] items-center gap-x-2 rounded-lg px-2 py-1.5 text-sm hover:bg-sunken"
            >
              <ChevronRight className="size-3.5 text-faint group-open/row:rotate-90" />
              <span className="text-right text-faint tabular-nums">{row.position}</span>
              <code className="truncate font-mono text-[13px]">{row.type}</code>
              <span className="text-[13px] text-faint tabular-nums">+{duration(row.at - start)}</span>
            </summary>
            <div className="px-2 pt-1 pb-3 md:pl-9">
              <RawRow row={row} onState={onState} />
            </div>
          </details>
        </li>
      ))}
    </ol>
  )
}
