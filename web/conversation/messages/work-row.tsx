import { ChevronRight } from "../../icons/arrows.ts"
import { count, duration } from "../../parts/words.ts"
import { DataView, isShownAtOnce } from "../../views/data-view.tsx"
import { CallEntry } from "./call-entry.tsx"
import { StepEntry } from "./step-entry.tsx"
import { stepMs } from "./step-ms.ts"
import { Thought } from "./thought.tsx"
import type { WorkItem } from "./to-rows.ts"

/** When a run is over, more steps than this are folded into one line. */
const MANY = 3

interface WorkRowProps {
  readonly items: readonly WorkItem[]
  /** When what came before it was recorded. */
  readonly since: string | undefined
}

/** What was done between two texts. */
export function WorkRow({ items, since }: WorkRowProps) {
  const isOver = items.every((item) => item.type !== "call" || item.isOver)
  const isFolded = isOver && items.length > MANY
  const list = (
    <ol className="space-y-0.5">
      {items.map((item, index) => (
        <li key={item.key}>
          {item.type === "call" ? (
            <CallEntry item={item} isBare={isFolded} />
          ) : item.type === "step" ? (
            <StepEntry item={item} ms={stepMs(items, index, since)} />
          ) : (
            item.message.reasoning && (
              <div className="px-2">
                <Thought reasoning={item.message.reasoning} />
              </div>
            )
          )}
        </li>
      ))}
    </ol>
  )
  if (!isFolded) return <div className="py-1.5">{list}</div>
  const ms = items.reduce((sum, item, index) => sum + (workMs(item) ?? stepMs(items, index, since) ?? 0), 0)
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

/** How long it took, where that is its own to say. */
function workMs(item: WorkItem): number | null | undefined {
  if (item.type === "call") return item.ms ?? 0
  return item.type === "message" ? (item.message.reasoning?.ms ?? 0) : undefined
}
