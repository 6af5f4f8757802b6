import { useMemo, useState } from "react"
import { toTimeline, totalWords } from "../../src/client/index.ts"
import type { RecordedEvent } from "../../src/protocol/index.ts"
import { CopyButton } from "../parts/copy-button.tsx"
import type { RunHead } from "./followed-run.ts"
import { RowList } from "./row-list.tsx"
import { StateView } from "./state-view.tsx"
import { Timeline } from "./timeline.tsx"

const VIEWS = { timeline: "Timeline", rows: "Rows", state: "State" } as const
type View = keyof typeof VIEWS

interface RunViewProps {
  readonly run: RunHead
  readonly rows: readonly RecordedEvent[]
  /** Left out where nobody but its owner could use it. */
  readonly id?: string
  /** Whose state can be looked at; left out where only the run is shown. */
  readonly conversationId?: string
}

/** One run: what it took in sum, and then as a timeline, row by row, or as the state that each row left. */
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
      <ul aria-label="In sum" className="mb-4 space-y-0.5 text-sm text-soft">
        {totalWords(timeline.totals, navigator.language).map((words) => (
          <li key={words}>{words}</li>
        ))}
        {id !== undefined && (
          <li className="flex items-center gap-1 text-faint">
            <code className="font-mono text-[13px] [overflow-wrap:anywhere]">{id}</code>
            <CopyButton what="the id of this run" read={() => id} />
          </li>
        )}
      </ul>
      <div role="group" aria-label="How to show it" className="mb-3 flex gap-1 border-b border-line pb-2">
        {shown.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={view === each}
            onClick={() => setView(each)}
            className="rounded-lg px-3 py-1 text-sm text-soft hover:bg-sunken hover:text-ink aria-pressed:bg-accent-soft aria-pressed:text-accent"
          >
            {VIEWS[each]}
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
