import type { DayOrMoment } from "../protocol/time/day.ts"
import type { Row } from "./known-tables.ts"

const URGENCY = ["high", "medium", "low"]

/** What comes first by a column: the most urgent, the earliest, the alphabet's first; rows without a value come last. */
export function compareBy(column: string, toMoment?: (when: DayOrMoment) => number): (a: Row, b: Row) => number {
  return (a, b) => {
    const [left, right] = [a[column] ?? null, b[column] ?? null]
    if (left === null || right === null) return Number(left === null) - Number(right === null)
    if (toMoment) return toMoment(left) - toMoment(right)
    if (typeof left === "number" && typeof right === "number") return left - right
    if (column === "priority") return URGENCY.indexOf(String(left)) - URGENCY.indexOf(String(right))
    return String(left).localeCompare(String(right))
  }
}
