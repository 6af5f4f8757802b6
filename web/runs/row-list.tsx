import { duration } from "../../src/client/index.ts"
import type { RecordedEvent } from "../../src/protocol/index.ts"
import { ChevronRight } from "../icons/arrows.ts"
import { moveByArrows } from "./move-by-arrows.ts"
import { RawRow } from "./raw-row.tsx"

interface RowListProps {
  readonly rows: readonly RecordedEvent[]
  readonly onState: ((position: number) => void) | undefined
}

/** Everything that was recorded of a run, one row of the journal a line. */
export function RowList({ rows, onState }: RowListProps) {
  const start = rows[0]?.at ?? 0
  return (
    <ol aria-label="Rows" className="-mx-2" onKeyDown={moveByArrows}>
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
