import type { FloorName, OursName } from "./contender.ts"
import type { Measure } from "./measures.ts"
import { median, type Numbers } from "./meters.ts"

/** Floor, ours, floor, within seconds, so that each ratio compares measurements close in time. */
export interface Round {
  readonly ours: Numbers
  readonly floors: Partial<Record<FloorName, Numbers[]>>
}

export type Verdict = "goal" | "must" | "MISSED" | "not judged" | "skipped" | "FAILED"

/** One line of the report. Numbers are medians of the rounds. */
export interface Row extends Omit<Measure, "key"> {
  readonly floorValue: number | null
  readonly oursValue: number | null
  readonly ratio: number | null
  readonly verdict: Verdict
  /** The reason why there is no number. */
  readonly reason?: string
}

export interface Series {
  readonly workload: Measure["workload"]
  readonly ours: OursName
  readonly rounds: readonly Round[]
  readonly skipped?: string
  readonly failed?: string
}

/** `slowness`: that of this machine, which scales bounds in time; undefined if times are not judged. */
export function toRow({ key, ...measure }: Measure, series: Series, slowness: number | undefined): Row {
  const nothing = { ...measure, floorValue: null, oursValue: null, ratio: null }
  if (series.failed !== undefined) return { ...nothing, verdict: "FAILED", reason: series.failed }
  if (series.skipped !== undefined) return { ...nothing, verdict: "skipped", reason: series.skipped }
  const isRate = measure.unit === "turns/s"
  // The better of the two floors measured before and after ours: a disturbed one would flatter us.
  const best = isRate ? Math.max : Math.min
  const pairs = series.rounds.map(({ ours, floors }) => ({
    ours: ours[key] ?? Number.NaN,
    floor: best(...(floors[measure.floor] ?? [{}]).map((numbers: Numbers) => numbers[key] ?? Number.NaN)),
  }))
  const ours = median(pairs.map((pair) => pair.ours))
  const floor = median(pairs.map((pair) => pair.floor))
  const ratio = median(pairs.map((pair) => (isRate ? pair.floor / pair.ours : pair.ours / pair.floor)))
  const shown = {
    floorValue: finite(floor),
    oursValue: finite(ours),
    ratio: isComparable(measure, floor) ? finite(ratio) : null,
  }
  if (slowness === undefined) return { ...measure, ...shown, verdict: "not judged" }
  const isTime = measure.unit === "ms" || measure.unit === "µs"
  const value = isTime ? ours / slowness : ours
  return { ...measure, ...shown, verdict: verdictOn(measure, measure.judged === "ratio" ? ratio : value) }
}

function verdictOn({ must, goal }: Pick<Measure, "must" | "goal">, value: number): Verdict {
  if ((must === undefined && goal === undefined) || !Number.isFinite(value)) return "not judged"
  if (goal !== undefined && value <= goal) return "goal"
  return must === undefined || value <= must ? "must" : "MISSED"
}

/** False for a count of faults and for a nearly empty heap, because ratios to those mean nothing. */
function isComparable({ unit, judged }: Pick<Measure, "unit" | "judged">, floor: number): boolean {
  if (unit === "lost" || unit === "unlisted" || unit === "×" || unit === "%") return false
  return floor > 0 && !(unit === "KB" && judged === "value")
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null)
