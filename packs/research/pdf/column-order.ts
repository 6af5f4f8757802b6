import type { TextRun } from "./page-runs.ts"

/** A column has at least this many lines. */
const LEAST_LINES = 4
/** A line of prose fills its column; a table cell seldom does. */
const FILLED = 0.55
const LEAST_CHARACTERS = 15
/** The least space between columns, in points. */
const LEAST_GUTTER = 8
const DEEPEST = 3
const MOSTLY = 0.8

/**
 * Sorts runs in reading order. Of two columns of prose, the left one comes first, between the runs that span both. All
 * others stay in the order of the file, which is usually right, also for rows of tables.
 */
export function inReadingOrder(runs: readonly TextRun[]): readonly TextRun[] {
  const level = runs.filter((run) => run.level)
  // A vertical stamp at the side of a page does not count. A page that is rotated as a whole does.
  return level.length < MOSTLY * runs.length ? runs : [...ordered(level), ...runs.filter((run) => !run.level)]
}

function ordered(runs: readonly TextRun[], deep = 0): readonly TextRun[] {
  const gutter = deep < DEEPEST ? findGutter(runs) : undefined
  if (gutter === undefined) return runs
  const all: TextRun[] = []
  let [left, right]: [TextRun[], TextRun[]] = [[], []]
  const take = () => {
    all.push(...ordered(left, deep + 1), ...ordered(right, deep + 1))
    ;[left, right] = [[], []]
  }
  // Sorted by height. Equally high runs stay in the order of the file.
  for (const run of [...runs].sort((a, b) => b.base - a.base)) {
    if (run.right <= gutter) left.push(run)
    else if (run.left >= gutter) right.push(run)
    else {
      take()
      all.push(run)
    }
  }
  take()
  return all
}

/** Finds the vertical cut, in the middle half of the page, that crosses the fewest lines. */
function findGutter(runs: readonly TextRun[]): number | undefined {
  if (runs.length < 2 * LEAST_LINES) return undefined
  let [from, to] = [Infinity, -Infinity]
  for (const { left, right } of runs) [from, to] = [Math.min(from, left), Math.max(to, right)]
  const width = to - from
  if (!(width > 100 && width < 20_000)) return undefined
  const gutter = widestGap(crossings(runs, from, width), width)
  if (gutter === undefined) return undefined
  const at = from + gutter
  const sides = [runs.filter(({ right }) => right <= at), runs.filter(({ left }) => left >= at)] as const
  return sides.every(isProse) && overlap(...sides) ? at : undefined
}

/** The number of runs at each point of the width. */
function crossings(runs: readonly TextRun[], from: number, width: number): Int32Array {
  const counts = new Int32Array(Math.ceil(width) + 2)
  for (const { left, right } of runs) {
    counts[Math.max(0, Math.floor(left - from))]!++
    counts[Math.min(counts.length - 1, Math.ceil(right - from))]!--
  }
  for (let i = 1; i < counts.length; i++) counts[i]! += counts[i - 1]!
  return counts
}

/** The middle of the widest part that the fewest runs cross. */
function widestGap(counts: Int32Array, width: number): number | undefined {
  const [first, last] = [Math.floor(width * 0.25), Math.ceil(width * 0.75)]
  let least = Infinity
  for (let i = first; i <= last; i++) least = Math.min(least, counts[i]!)
  let best = { start: 0, length: 0 }
  let length = 0
  for (let i = first; i <= last; i++) {
    length = counts[i] === least ? length + 1 : 0
    if (length > best.length) best = { start: i - length + 1, length }
  }
  return best.length < LEAST_GUTTER ? undefined : best.start + best.length / 2
}

function isProse(runs: readonly TextRun[]): boolean {
  if (runs.length < LEAST_LINES) return false
  const widths = runs.map(({ left, right }) => right - left).sort((a, b) => a - b)
  const characters = runs.map(({ text }) => text.length).sort((a, b) => a - b)
  const middle = Math.floor(runs.length / 2)
  const widest = widths[Math.floor(runs.length * 0.95)] ?? 0
  return widths[middle]! >= FILLED * widest && characters[middle]! >= LEAST_CHARACTERS
}

/** True if they overlap vertically, side by side. */
function overlap(left: readonly TextRun[], right: readonly TextRun[]): boolean {
  const heights = (runs: readonly TextRun[]) =>
    runs.reduce(([low, high], { base }) => [Math.min(low, base), Math.max(high, base)] as const, [
      Infinity,
      -Infinity,
    ] as readonly [number, number])
  const [a, b] = [heights(left), heights(right)]
  return Math.min(a[1], b[1]) - Math.max(a[0], b[0]) > 0.3 * Math.min(a[1] - a[0], b[1] - b[0])
}
