import type { DayOrMoment } from "../shared/time/day.ts"
import type { Row } from "./known-tables.ts"

const URGENCY = ["high", "medium", "low"]

/** Compares rows by a column: urgent, early and alphabetically first rows come first, and rows without a value last. */
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

type Compare = (a: Row, b: Row) => number

/**
 * Sorts rows that arrive in portions, with little work after each: sorting all of them at once would block the thread.
 * The sort is stable.
 */
export class SortedRuns {
  readonly #compare: Compare
  /** Each sorted, and longer than the one after it. */
  readonly #runs: (readonly Row[])[] = []
  length = 0

  constructor(compare: Compare) {
    this.#compare = compare
  }

  add(rows: readonly Row[]): void {
    this.length += rows.length
    this.#runs.push([...rows].sort(this.#compare))
    while (this.#runs.length > 1 && this.#runs.at(-2)!.length <= this.#runs.at(-1)!.length) this.#mergeLast()
  }

  merged(): readonly Row[] {
    while (this.#runs.length > 1) this.#mergeLast()
    return this.#runs[0] ?? []
  }

  #mergeLast(): void {
    const [left = [], right = []] = this.#runs.splice(-2)
    const both: Row[] = []
    for (let [at, to] = [0, 0]; at < left.length || to < right.length;) {
      const isLeft = at < left.length && (to === right.length || this.#compare(left[at]!, right[to]!) <= 0)
      both.push(isLeft ? left[at++]! : right[to++]!)
    }
    this.#runs.push(both)
  }
}
