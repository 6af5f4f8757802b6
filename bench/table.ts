import type { Row } from "./judge.ts"

const HEADINGS = ["workload", "what", "floor", "ours", "ratio", "must", "goal", "verdict"]
const NUMERIC = new Set(["floor", "ours", "ratio", "must", "goal"])

/** The rows as text in columns, followed by the reasons for missing numbers. */
export function toTable(rows: readonly Row[]): string {
  const cells = rows.map((row, i) => toCells(row, rows[i - 1]?.workload === row.workload))
  const widths = HEADINGS.map((heading, i) =>
    Math.max(heading.length, ...cells.map((line) => (line[i] as string).length)),
  )
  const toLine = (line: readonly string[]) =>
    line
      .map((cell, i) => (NUMERIC.has(HEADINGS[i] as string) ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
      .join("  ")
      .trimEnd()
  const reasons = new Set(
    rows.flatMap(({ workload, ours, verdict, reason }) =>
      reason ? [`${verdict}: ${workload} ${ours}: ${reason}`] : [],
    ),
  )
  return [toLine(HEADINGS), toLine(widths.map((width) => "─".repeat(width))), ...cells.map(toLine), ...reasons].join(
    "\n",
  )
}

function toCells(row: Row, continued: boolean): string[] {
  const bound = (value: number | undefined) =>
    value === undefined ? "" : `≤ ${toText(value, row.judged === "ratio" ? "×" : row.unit)}`
  return [
    continued ? "" : row.workload.toUpperCase(),
    row.what,
    row.floorValue === null ? "–" : toText(row.floorValue, row.unit),
    row.oursValue === null ? "–" : toText(row.oursValue, row.unit),
    row.ratio === null ? "" : toText(row.ratio, "×"),
    bound(row.must),
    bound(row.goal),
    row.verdict,
  ]
}

/** Rounds to three significant digits and adds the unit. */
export function toText(value: number, unit?: Row["unit"]): string {
  const size = Math.abs(value)
  const number =
    size >= 1000 ? Math.round(value).toLocaleString("en") : size < 0.0005 ? "0" : String(Number(value.toPrecision(3)))
  if (unit === "×") return `${number}×`
  return !unit || unit === "trips" || unit === "lost" || unit === "unlisted" ? number : `${number} ${unit}`
}
