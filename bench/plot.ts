import type { Row } from "./judge.ts"
import { toText } from "./table.ts"

/** The bar of a row: its distance from the floor, and its bounds. */
interface Bar {
  readonly row: Row
  readonly value: number
  readonly must: number | undefined
  readonly goal: number | undefined
}

const WIDTH = 1000
const LEFT = 320
const RIGHT = 770
const TOP = 96
const ROW = 27
const GAP = 14
const FIRST = 0.25

const COLOURS: Record<Row["verdict"], string> = {
  goal: "#2f9e6e",
  must: "#4a83d4",
  MISSED: "#d9534f",
  "not judged": "#a3acb8",
  skipped: "#a3acb8",
  FAILED: "#d9534f",
}

/** A plot of the rows as SVG: one bar each on a logarithmic axis, the floor at 1×, with marks for must and goal. */
export function toPlot(rows: readonly Row[], subtitle: string): string {
  const bars = rows.flatMap(toBar)
  const last = 2 ** Math.ceil(Math.log2(Math.max(4, ...bars.flatMap(({ value, must }) => [value, must ?? 0])) * 1.05))
  const x = (value: number) => {
    const share = Math.log(Math.min(last, Math.max(FIRST, value)) / FIRST) / Math.log(last / FIRST)
    return Math.round((LEFT + share * (RIGHT - LEFT)) * 10) / 10
  }
  let y = TOP
  const drawn = bars.map((bar, i) => {
    const begins = bars[i - 1]?.row.workload !== bar.row.workload
    if (begins && i > 0) y += GAP
    const line = drawBar(bar, { x, y, begins })
    y += ROW
    return line
  })
  const bottom = y + 6
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${bottom + 34}" viewBox="0 0 ${WIDTH} ${bottom + 34}" font-family="system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="12.5" fill="#2b3440">
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="24" y="34" font-size="19" font-weight="600">Pawl against a hand-written floor</text>
<text x="24" y="54" fill="#6a7480">${escaped(subtitle)}</text>
${drawLegend()}
${drawAxis({ x, last, bottom })}
${drawn.join("\n")}
</svg>
`
}

function toBar(row: Row): Bar[] {
  const { oursValue, floorValue, ratio, must, goal } = row
  if (row.judged === "ratio") return ratio === null ? [] : [{ row, value: ratio, must, goal }]
  if (row.unit === "×" && oursValue !== null) return [{ row, value: oursValue, must, goal }]
  if (ratio === null || !floorValue) return []
  // Bounds on our own number are converted to the axis, whose unit is the floor.
  const scaled = (bound: number | undefined) => (bound === undefined ? undefined : bound / floorValue)
  return [{ row, value: ratio, must: scaled(must), goal: scaled(goal) }]
}

interface Where {
  readonly x: (value: number) => number
  readonly y: number
  readonly begins: boolean
}

function drawBar({ row, value, must, goal }: Bar, { x, y, begins }: Where): string {
  const [from, to] = [Math.min(x(1), x(value)), Math.max(x(1), x(value))]
  const middle = y + 14
  const shown = row.judged === "value" && row.oursValue !== null ? toText(row.oursValue, row.unit) : toText(value, "×")
  const floor =
    row.floorValue === null || row.oursValue === null || row.unit === "×"
      ? ""
      : `${toText(row.floorValue)} → ${toText(row.oursValue, row.unit)}`
  const mark = (bound: number | undefined, colour: string, dash: string) =>
    bound === undefined
      ? ""
      : `<line x1="${x(bound)}" x2="${x(bound)}" y1="${y + 2}" y2="${y + 24}" stroke="${colour}" stroke-width="2"${dash}/>`
  return [
    begins ? `<text x="24" y="${middle + 4}" font-weight="600">${row.workload.toUpperCase()}</text>` : "",
    `<text x="60" y="${middle + 4}">${escaped(row.what)}</text>`,
    `<rect x="${from}" y="${y + 6}" width="${Math.max(2, to - from).toFixed(1)}" height="15" rx="2" fill="${COLOURS[row.verdict]}"/>`,
    mark(must, "#1d2530", ""),
    mark(goal, "#1b7f55", ' stroke-dasharray="3 2"'),
    `<text x="${RIGHT + 14}" y="${middle + 4}" font-weight="600">${escaped(shown)}</text>`,
    `<text x="${WIDTH - 20}" y="${middle + 4}" text-anchor="end" fill="#6a7480" font-size="11">${escaped(floor)}</text>`,
  ].join("")
}

function drawAxis({ x, last, bottom }: { x: Where["x"]; last: number; bottom: number }): string {
  const ticks = Array.from({ length: Math.round(Math.log2(last / FIRST)) + 1 }, (_, i) => FIRST * 2 ** i)
  const lines = ticks.map((tick) => {
    const strong = tick === 1
    const line = `<line x1="${x(tick)}" x2="${x(tick)}" y1="${TOP - 4}" y2="${bottom}" stroke="${strong ? "#7b8694" : "#e6e9ee"}" stroke-width="${strong ? 1.5 : 1}"/>`
    return `${line}<text x="${x(tick)}" y="${bottom + 17}" text-anchor="middle" font-size="11" fill="#6a7480">${tick}×</text>`
  })
  return lines.join("")
}

function drawLegend(): string {
  const box = (x: number, colour: string, text: string) =>
    `<rect x="${x}" y="67" width="12" height="12" rx="2" fill="${colour}"/><text x="${x + 18}" y="77">${text}</text>`
  const line = (x: number, colour: string, dash: string, text: string) =>
    `<line x1="${x}" x2="${x}" y1="64" y2="82" stroke="${colour}" stroke-width="2"${dash}/><text x="${x + 9}" y="77">${text}</text>`
  return [
    box(24, COLOURS.goal, "goal reached"),
    box(136, COLOURS.must, "must reached"),
    box(252, COLOURS.MISSED, "missed"),
    box(330, COLOURS["not judged"], "not judged"),
    line(440, "#1d2530", "", "must"),
    line(494, "#1b7f55", ' stroke-dasharray="3 2"', "goal"),
    `<text x="${WIDTH - 20}" y="77" text-anchor="end" fill="#6a7480">floor → ours; further left is faster</text>`,
  ].join("")
}

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
