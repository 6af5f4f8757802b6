import { defineView } from "./define-view.ts"
import type { ShownChart } from "./result-card.tsx"
import { ResultCard } from "./table-view.tsx"
import { type ShownTable, toTable } from "./shown-table.ts"

interface Chart {
  readonly chart: ShownChart
  /** The rows that it was drawn from, as a table like any other. */
  readonly table: ShownTable
}

/** `{ kind: "chart", spec, sql, resultId, connectionId, columns?, rowCount?, truncated? }`: a result that somebody has had drawn. */
export const chartView = defineView<Chart>({
  kind: "chart",
  read(data) {
    const { spec, sql, resultId, connectionId } = data
    if (!isFields(spec) || typeof sql !== "string") return undefined
    if (typeof resultId !== "string" || typeof connectionId !== "string") return undefined
    const table = toTable({ ...data, ...rowsOf(spec, data.columns) })
    return table && { chart: { spec, title: titleOf(spec) }, table }
  },
  Draw: ({ data: { chart, table } }) => <ResultCard data={table} chart={chart} />,
})

/** The rows inside of a chart. Its columns are those of the result, unless a name had to be another one there. */
function rowsOf({ data }: ShownChart["spec"], columns: unknown) {
  const values = isFields(data) && Array.isArray(data.values) ? (data.values as unknown[]).filter(isFields) : []
  const names = Object.keys(values[0] ?? {})
  const known = Array.isArray(columns) ? columns.filter(isFields) : []
  const isSame = known.length === names.length && known.every(({ name }) => names.includes(String(name)))
  return { columns: isSame ? known : names.map((name) => ({ name, type: null })), rows: values }
}

function titleOf({ title, description }: ShownChart["spec"]): string {
  const said = isFields(title) ? title.text : title
  const words = [said, description].find((each) => typeof each === "string" && each.trim() !== "")
  return typeof words === "string" ? words.slice(0, 200) : "Chart"
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
