import { ChartColumn, Download, Table2 } from "lucide-react"
import { useState } from "react"
import { ChartFrame, type Outcome } from "../chart/chart-frame.tsx"
import type { Format } from "../chart/messages.ts"
import { markChanged, useIsStale } from "../chart/newest-result.ts"
import { saveChart } from "../chart/save-chart.ts"
import { Button } from "../parts/button.tsx"
import { attempt } from "../parts/explain.ts"
import { escapeHidden } from "../parts/hidden-characters.ts"
import { Plain } from "../parts/plain.tsx"
import { useDark } from "../state/theme.ts"
import { DataTable } from "./data-table.tsx"
import { defineView } from "./define-view.ts"
import { ResultTable } from "./result-table.tsx"
import { SqlPanel } from "./sql-panel.tsx"
import type { ShownTable } from "./table-view.tsx"

interface Chart {
  readonly spec: Readonly<Record<string, unknown>>
  readonly title: string
  readonly rows: readonly Readonly<Record<string, unknown>>[]
  readonly sql: string
  readonly resultId: string
  readonly connectionId: string
}

/** `{ kind: "chart", spec, sql, resultId, connectionId }`: drawn in a frame of its own, and where that fails, as a table. */
export const chartView = defineView<Chart>({
  kind: "chart",
  read({ spec, sql, resultId, connectionId }) {
    if (!isFields(spec) || typeof sql !== "string") return undefined
    if (typeof resultId !== "string" || typeof connectionId !== "string") return undefined
    const values = isFields(spec.data) && Array.isArray(spec.data.values) ? (spec.data.values as unknown[]) : []
    return { spec, title: titleOf(spec), rows: values.filter(isFields), sql, resultId, connectionId }
  },
  Draw: DrawChart,
})

function DrawChart({ data }: { readonly data: Chart }) {
  const { spec, title, rows, sql, connectionId, resultId } = data
  const [outcome, setOutcome] = useState<Outcome>({ is: "drawing" })
  const [asTable, setAsTable] = useState(false)
  const dark = useDark()
  const isStale = useIsStale(data)
  /** What the person's own words brought, which the chart is not about. */
  const [own, setOwn] = useState<ShownTable>()
  const show = (table: ShownTable) => {
    setOwn(table)
    markChanged(resultId, true)
  }
  const failed = outcome.is === "failed"
  const save = (format: Format) =>
    attempt(async () => {
      if (outcome.is === "drawn") await saveChart(await outcome.save(format), format, title)
    })
  return (
    <figure className="my-2 overflow-hidden rounded-xl border border-line bg-surface" aria-label={escapeHidden(title)}>
      {isStale && (
        <p className="border-b border-line bg-warn-soft px-3 py-1.5 text-xs text-warn">
          Drawn from an earlier result: the SQL has changed since.
        </p>
      )}
      {failed && (
        <p className="border-b border-line px-3 py-1.5 text-sm text-soft">
          Shown as a table, because the chart could not be drawn: <Plain text={outcome.reason} />.
        </p>
      )}
      {asTable || failed ? (
        <Rows rows={rows} />
      ) : (
        <ChartFrame spec={spec} title={escapeHidden(`Chart: ${title}`)} dark={dark} onOutcome={setOutcome} />
      )}
      <figcaption className="flex flex-wrap items-center gap-1 border-t border-line px-2 py-1">
        {!failed && (
          <Button look="quiet" small aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
            {asTable ? <ChartColumn className="size-4" /> : <Table2 className="size-4" />}
            {asTable ? "Chart" : "Table"}
          </Button>
        )}
        {!asTable && !failed && (
          <>
            <SaveButton format="png" disabled={outcome.is !== "drawn"} onSave={save} />
            <SaveButton format="svg" disabled={outcome.is !== "drawn"} onSave={save} />
          </>
        )}
      </figcaption>
      <SqlPanel sql={sql} connectionId={connectionId} onResult={show} />
      {own && <ResultTable data={own} />}
    </figure>
  )
}

interface SaveButtonProps {
  readonly format: Format
  readonly disabled: boolean
  readonly onSave: (format: Format) => unknown
}

function SaveButton({ format, disabled, onSave }: SaveButtonProps) {
  const name = format.toUpperCase()
  return (
    <Button look="quiet" small aria-label={`Save as ${name}`} disabled={disabled} onClick={() => onSave(format)}>
      <Download className="size-4" /> {name}
    </Button>
  )
}

/** The same rows, for whoever cannot see a picture, or would rather have the numbers. */
function Rows({ rows }: { readonly rows: Chart["rows"] }) {
  const names = Object.keys(rows[0] ?? {})
  return (
    <DataTable
      columns={names.map((name) => ({ name, type: null }))}
      rows={rows.map((row) => names.map((name) => row[name]))}
    />
  )
}

function titleOf({ title, description }: Chart["spec"]): string {
  const said = isFields(title) ? title.text : title
  const words = [said, description].find((each) => typeof each === "string" && each.trim() !== "")
  return typeof words === "string" ? words.slice(0, 200) : "Chart"
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
