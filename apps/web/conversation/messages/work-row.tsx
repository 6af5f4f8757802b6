import type { StepItem } from "../../../../client/index.ts"
import { ChevronRight, Hourglass, Route } from "../../components/icons.tsx"
import { Json, Plain } from "../../components/plain.tsx"
import { duration } from "../../strings/format.ts"
import { t } from "../../strings/strings.ts"
import { DataView, isShownAtOnce } from "../../views/data-view.tsx"
import { CallEntry } from "./call-entry.tsx"
import { describeLeftOut, describeWaiting } from "./describe-reply.ts"
import { describeStepResult } from "./describe-step.ts"
import { stepName } from "../../components/step-name.ts"
import { ReasoningBlock } from "./reasoning.tsx"
import type { WorkItem } from "./to-rows.ts"

/** After a run, more steps than this are folded into one line. */
const MANY = 3

interface WorkRowProps {
  readonly items: readonly WorkItem[]
  /** When the previous item was recorded. */
  readonly since: string | undefined
}

/** Calls, steps and reasoning between two texts. */
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
                <ReasoningBlock reasoning={item.message.reasoning} />
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
          {t("conversation.steps", { count: items.length })}
          {ms > 0 && <span className="text-faint">· {duration(ms)}</span>}
        </summary>
        <div className="mt-1 ml-4">{list}</div>
      </details>
      {/* Steps are folded; their results stay visible. */}
      {items.map((item) =>
        item.type === "call" && isShownAtOnce(item.data) ? <DataView key={item.key} data={item.data} /> : null,
      )}
    </div>
  )
}

/** The duration, if the item itself has one. */
function workMs(item: WorkItem): number | null | undefined {
  if (item.type === "call") return item.ms ?? 0
  return item.type === "message" ? (item.message.reasoning?.ms ?? 0) : undefined
}

interface StepEntryProps {
  readonly item: StepItem
  /** The duration, if known. */
  readonly ms: number | undefined
}

/** A named stage of the run, with its result. */
function StepEntry({ item: { step, detail }, ms }: StepEntryProps) {
  const waiting = describeWaiting(step, detail)
  if (waiting !== undefined) {
    return (
      <p className="flex items-center gap-2 px-2 py-0.5 text-xs text-warn">
        <Hourglass className="mx-0.5 size-3.5 shrink-0" /> <Plain text={waiting} />
      </p>
    )
  }
  const leftOut = describeLeftOut(step, detail)
  if (leftOut !== undefined) {
    return (
      <p className="px-2 py-0.5 text-xs text-faint">
        <Plain text={leftOut} />
      </p>
    )
  }
  const line = (
    <>
      <Route className="mx-0.5 size-3.5" />
      <Plain text={[stepName(step), ...describeStepResult(step, detail)].join(" · ")} />
      {ms !== undefined && <span className="text-xs text-faint">{duration(ms)}</span>}
    </>
  )
  if (detail === undefined || detail === null) {
    return <p className="flex items-center gap-2 px-2 py-0.5 text-xs text-faint">{line}</p>
  }
  return (
    <details className="group/step">
      <summary className="flex w-fit items-center gap-2 rounded-lg px-2 py-0.5 text-xs text-faint hover:bg-sunken">
        {line}
        <ChevronRight className="size-3.5 text-faint transition-transform group-open/step:rotate-90" />
      </summary>
      <div className="mt-1 mb-2 ml-8">
        <Json value={detail} />
      </div>
    </details>
  )
}

/**
 * The duration of a stage, if it reports one; else the time since the previous record, because a stage is recorded when
 * it ends. Unknown after a call, which does not record its end.
 */
function stepMs(items: readonly WorkItem[], index: number, since: string | undefined): number | undefined {
  const item = items[index]
  if (item?.type !== "step") return undefined
  const { detail } = item
  const own = typeof detail === "object" && detail !== null ? (detail as { ms?: unknown }).ms : undefined
  if (typeof own === "number") return own
  const before = items[index - 1]
  const begun = before === undefined ? since : before.type === "step" ? before.at : undefined
  const ms = begun === undefined ? Number.NaN : Date.parse(item.at) - Date.parse(begun)
  return ms >= 0 ? ms : undefined
}
