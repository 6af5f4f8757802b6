import { ChevronRight, Route } from "lucide-react"
import type { CallItem, StepItem } from "../../src/client/index.ts"
import { Json } from "../parts/json.tsx"
import { Plain } from "../parts/plain.tsx"
import { duration, humanName } from "../parts/words.ts"

interface StepEntryProps {
  readonly item: StepItem
  readonly before: CallItem | StepItem | undefined
}

/** A named stage of the run, with what it found. */
export function StepEntry({ item: { step, detail, at }, before }: StepEntryProps) {
  const ms = msOf(detail) ?? (before?.type === "step" ? Date.parse(at) - Date.parse(before.at) : undefined)
  const line = (
    <>
      <Route className="size-4 text-faint" />
      <Plain text={humanName(step)} />
      {ms !== undefined && <span className="text-xs text-faint">{duration(ms)}</span>}
    </>
  )
  if (detail === undefined || detail === null) {
    return <p className="flex items-center gap-2 px-2 py-1 text-sm text-soft">{line}</p>
  }
  return (
    <details className="group/step">
      <summary className="flex w-fit items-center gap-2 rounded-lg px-2 py-1 text-sm text-soft hover:bg-sunken">
        {line}
        <ChevronRight className="size-3.5 text-faint transition-transform group-open/step:rotate-90" />
      </summary>
      <div className="mt-1 mb-2 ml-8">
        <Json value={detail} />
      </div>
    </details>
  )
}

/** A stage that has measured itself says so. */
function msOf(detail: unknown): number | undefined {
  const ms = typeof detail === "object" && detail !== null ? (detail as { ms?: unknown }).ms : undefined
  return typeof ms === "number" ? ms : undefined
}
