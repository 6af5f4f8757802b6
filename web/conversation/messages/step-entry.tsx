import { ChevronRight, Route } from "../../icons/arrows.ts"
import { Hourglass } from "../../icons/signs.ts"
import { leftOutWords, type StepItem, waitingWords } from "../../../src/client/index.ts"
import { Json } from "../../parts/json.tsx"
import { Plain } from "../../parts/plain.tsx"
import { duration, humanName } from "../../parts/words.ts"
import { stepWords } from "./step-words.ts"

interface StepEntryProps {
  readonly item: StepItem
  /** How long it took, where that is known. */
  readonly ms: number | undefined
}

/** A named stage of the run, with what it found. */
export function StepEntry({ item: { step, detail }, ms }: StepEntryProps) {
  const waiting = waitingWords(step, detail)
  if (waiting !== undefined) {
    return (
      <p className="flex items-center gap-2 px-2 py-0.5 text-xs text-warn">
        <Hourglass className="mx-0.5 size-3.5 shrink-0" /> <Plain text={waiting} />
      </p>
    )
  }
  const leftOut = leftOutWords(step, detail)
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
      <Plain text={[humanName(step), ...stepWords(step, detail)].join(" · ")} />
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
