import { ChartColumn, Download, Table2 } from "lucide-react"
import { useState } from "react"
import { ChartFrame, type Outcome } from "../chart/chart-frame.tsx"
import type { Format } from "../chart/messages.ts"
import { useIsStale } from "../chart/newest-result.ts"
import { saveChart } from "../chart/save-chart.ts"
import { Button } from "../parts/button.tsx"
import { CopyButton } from "../parts/copy-button.tsx"
import { attempt } from "../parts/explain.ts"
import { escapeHidden } from "../parts/hidden-characters.ts"
import { Plain } from "../parts/plain.tsx"
import { useDark } from "../state/theme.ts"
import { defineView } from "./define-view.ts"
import { tableView } from "./table-view.tsx"

interface Chart {
  readonly spec: Readonly<Record<string, unknown>>
  readonly title: string
  readonly rows: readonly Readonly<Record<string, unknown>>[]
  readonly sql: string
  readonly resultId: string
}

/** `{ kind: "chart", spec, sql, resultId }`: drawn in a frame of its own, and where that fails, as a table. */
export const chartView = defineView<Chart>({
  kind: "chart",
  read({ spec, sql, resultId }) {
    if (!isFields(spec) || typeof sql !== "string" || typeof resultId !== "string") return undefined
    const values = isFields(spec.data) && Array.isArray(spec.data.values) ? (spec.data.values as unknown[]) : []
    return { spec, title: titleOf(spec), rows: values.filter(isFields), sql, resultId }
  },
  Draw: DrawChart,
})

function DrawChart({ data }: { readonly data: Chart }) {
  const { spec, title, rows, sql } = data
  const [outcome, setOutcome] = useState<Outcome>({ is: "drawing" })
  const [asTable, setAsTable] = useState(false)
  const dark = useDark()
  const isStale = useIsStale(data)
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
        <Sql sql={sql} />
      </figcaption>
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

function Sql({ sql }: { readonly sql: string }) {
  return (
    <details className="min-w-0 text-sm text-soft open:basis-full">
      <summary className="w-fit rounded-lg px-2.5 py-1 text-[13px] font-medium hover:bg-sunken">SQL</summary>
      <div className="flex items-start gap-1 p-1">
        <pre
          tabIndex={0}
          className="max-h-60 min-w-0 flex-1 overflow-auto rounded-lg bg-sunken px-3 py-2 font-mono text-[13px] whitespace-pre-wrap [overflow-wrap:anywhere]"
        >
          <Plain text={sql} />
        </pre>
        <CopyButton what="the SQL" read={() => sql} />
      </div>
    </details>
  )
}

/** The same rows, for whoever cannot see a picture, or would rather have the numbers. */
function Rows({ rows }: { readonly rows: Chart["rows"] }) {
  const columns = Object.keys(rows[0] ?? {})
  const table = tableView.read({ columns, rows })
  return <tableView.Draw data={table} />
}

function titleOf({ title, description }: Chart["spec"]): string {
  const said = isFields(title) ? title.text : title
  const words = [said, description].find((each) => typeof each === "string" && each.trim() !== "")
  return typeof words === "string" ? words.slice(0, 200) : "Chart"
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
