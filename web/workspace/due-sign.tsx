import { Calendar } from "../icons/things.ts"
import type { DayOrMoment } from "../../src/protocol/index.ts"
import { dueInWords, isOverdue } from "./due.ts"

interface DueSignProps {
  readonly dueDate: DayOrMoment | null
  readonly isDone: boolean
}

export function DueSign({ dueDate, isDone }: DueSignProps) {
  if (dueDate === null) return null
  const isLate = !isDone && isOverdue(dueDate, Date.now())
  return (
    <span className={`inline-flex items-center gap-1 whitespace-nowrap ${isLate ? "text-danger" : ""}`}>
      <Calendar className="size-3.5" aria-hidden="true" />
      {isLate && <span className="sr-only">Late: </span>}
      {dueInWords(dueDate, Date.now())}
    </span>
  )
}
