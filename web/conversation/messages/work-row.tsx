import { ChevronRight } from "../../icons/arrows.ts"
import type { CallItem, StepItem } from "../../../src/client/index.ts"
import { count, duration } from "../../parts/words.ts"
import { DataView, isShownAtOnce } from "../../views/data-view.tsx"
import { CallEntry } from "./call-entry.tsx"
import { StepEntry } from "./step-entry.tsx"
import { stepMs } from "./step-ms.ts"

/** When a run is over, more steps than this are folded into one line. */
const MANY = 3

interface WorkRowProps {
  readonly items: readonly (CallItem | StepItem)[]
  /** When what came before it was recorded. */
  readonly since: string | undefined
}

/** What was done between two texts. */
export function WorkRow({ items, since }: WorkRowProps) {
  const isOver = items.every((item) => item.type === "step" || item.isOver)
  const isFolded = isOver && items.length > MANY
  const list = (
    <ol className="space-y-0.5">
      {items.map((item, index) => (
        <li key={item.key}>
          {item.type === "call" ? (
            <CallEntry item={item} isBare={isFolded} />
          ) : (
            <StepEntry item={item} ms={stepMs(items, index, since)} />
          )}
        </li>
      ))}
    </ol>
  )
  if (!isFolded) return <div className="py-1.5">{list}</div>
  const ms = items.reduce(
    (sum, item, index) => sum + ((item.type === "call" ? item.ms : stepMs(items, index, since)) ?? 0),
    0,
  )
  return (
    <div className="py-1.5">
      <details className="group/work">
        <summary className="flex w-fit items-center gap-1.5 rounded-lg px-2 py-1 text-sm text-soft hover:bg-sunken">
          <ChevronRight className="size-4 transition-transform group-open/work:rotate-90" />
          {count(items.length, "step")}
          {ms > 0 && <span className="text-faint">· {duration(ms)}</span>}
        </summary>
        <div className="mt-1 ml-4">{list}</div>
      </details>
      {/* What was done is folded; what it brought is what was asked for. */}
      {items.map((item) =>
        item.type === "call" && isShownAtOnce(item.data) ? <DataView key={item.key} data={item.data} /> : null,
      )}
    </div>
  )
}
