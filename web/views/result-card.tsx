import { Download } from "../icons/arrows.ts"
import { Code } from "../icons/signs.ts"
import { ChartColumn, Table } from "../icons/things.ts"
import { type ReactNode, useEffect, useMemo, useState } from "react"
import { chartTitle, chartWorthSeeing, toChartData } from "../../src/charts/index.ts"
import { ChartFrame, type Outcome } from "../chart/chart-frame.tsx"
import type { Format } from "../chart/messages.ts"
import { markChanged, useIsOutdated } from "../chart/outdated.ts"
import { saveChart } from "../chart/save-chart.ts"
import { Button } from "../parts/button.tsx"
import { attempt } from "../parts/explain.ts"
import { escapeHidden } from "../parts/hidden-characters.ts"
import { Plain } from "../parts/plain.tsx"
import { saveFile } from "../parts/save-file.ts"
import { count } from "../parts/words.ts"
import { client } from "../state/client.ts"
import { useDark } from "../state/theme.ts"
import { DataTable } from "./data-table.tsx"
import { SqlPanel } from "./sql-panel.tsx"
import type { ShownTable, TableSource } from "./shown-table.ts"
import { useWholeResult } from "./use-whole-result.ts"

export interface ShownChart {
  readonly spec: Readonly<Record<string, unknown>>
  readonly title: string
}

interface ResultCardProps {
  readonly data: ShownTable
  /** What somebody has had drawn of it. Without one, what has a shape is drawn by rule. */
  readonly chart?: ShownChart | undefined
}

/** Of more rows no picture is made unasked. */
const MAX_DRAWN = 2000

/**
 * A result: drawn where it has a shape worth seeing, and as a table; as a file; and with the SQL it came from, above its rows,
 * so that it stays where it is when it is changed and run again.
 */
export function ResultCard({ data, chart: given }: ResultCardProps) {
  const [own, setOwn] = useState<ShownTable>()
  const [isSqlOpen, setSqlOpen] = useState(false)
  const [asTable, setAsTable] = useState(false)
  const [outcome, setOutcome] = useState<Outcome>({ is: "drawing" })
  const dark = useDark()
  const { table, want, isLoading, problem } = useWholeResult(own ?? data)
  const isPart = table.rows.length < table.rowCount
  const unasked = useUnasked(table, own !== undefined || given === undefined)
  const chart = own || !given ? unasked : given
  const wantsAll = chart !== undefined && chart === unasked && isPart
  useEffect(() => {
    if (wantsAll) want()
  }, [wantsAll, want])
  const isOutdated = useIsOutdated(data.source?.resultId ?? "") && given !== undefined && !own
  const failed = outcome.is === "failed" ? outcome.reason : undefined
  const isDrawn = chart !== undefined && !wantsAll && !asTable && failed === undefined
  const show = (shown: ShownTable | undefined) => {
    setOwn(shown)
    setOutcome({ is: "drawing" })
    // What was drawn elsewhere from these rows is not about what is shown here any more.
    if (data.source) markChanged(data.source.resultId, shown !== undefined && !isSameSql(shown, data))
  }
  const save = (format: Format) =>
    attempt(async () => {
      if (outcome.is === "drawn") await saveChart(await outcome.save(format), format, chart?.title ?? "chart")
    })
  return (
    <figure
      className="my-2 overflow-hidden rounded-xl border border-line bg-surface"
      aria-label={escapeHidden(chart?.title ?? "Result")}
    >
      {own && (
        <div className="flex flex-wrap items-center gap-2 border-b border-line bg-accent-soft px-3 py-1 text-[13px] text-accent">
          <p className="flex-1">You ran this yourself. The assistant has not seen it.</p>
          <Button small look="quiet" onClick={() => show(undefined)}>
            Back to what it found
          </Button>
        </div>
      )}
      {isOutdated && <Notice isWarning>Drawn from an earlier result: what its SQL brings has changed since.</Notice>}
      {table.warnings.map((warning, index) => (
        <Notice key={index} isWarning>
          <Plain text={warning} />
        </Notice>
      ))}
      {failed !== undefined && chart === given && (
        <Notice>
          Shown as a table, because the chart could not be drawn: <Plain text={failed} />.
        </Notice>
      )}
      <figcaption className="flex min-h-10 flex-wrap items-center gap-x-1 border-b border-line py-0.5 pr-1.5 pl-3 text-xs text-faint max-sm:justify-end">
        <span role="status" className="basis-full pt-1 sm:flex-1 sm:basis-0 sm:py-1">
          {count(table.rowCount, "row")}
          {table.truncated && ", and there are more"}
          {isPart && !isDrawn && !isLoading && !problem && `, the first ${table.rows.length.toLocaleString()} shown`}
          {isLoading && ", loading the others …"}
        </span>
        {problem && <span className="text-warn">{problem}</span>}
        {isPart && !isDrawn && !isLoading && (
          <Button small look="quiet" onClick={want}>
            Show all
          </Button>
        )}
        {chart && failed === undefined && (
          <Button small look="quiet" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
            {asTable ? <ChartColumn className="size-4" /> : <Table className="size-4" />}
            {asTable ? "Chart" : "Table"}
          </Button>
        )}
        {data.source && (
          <Button small look="quiet" aria-expanded={isSqlOpen} onClick={() => setSqlOpen(!isSqlOpen)}>
            <Code className="size-4" /> SQL
          </Button>
        )}
        {isDrawn && <SaveButton format="png" disabled={outcome.is !== "drawn"} onSave={save} />}
        {isDrawn && <SaveButton format="svg" disabled={outcome.is !== "drawn"} onSave={save} />}
        {table.source && <CsvButton source={table.source} />}
      </figcaption>
      {isSqlOpen && data.source && (
        <SqlPanel sql={table.source?.sql ?? data.source.sql} connectionId={data.source.connectionId} onResult={show} />
      )}
      {isDrawn ? (
        <ChartFrame
          key={table.source?.resultId}
          spec={chart.spec}
          title={escapeHidden(`Chart: ${chart.title}`)}
          dark={dark}
          onOutcome={setOutcome}
        />
      ) : (
        <DataTable
          key={table.source?.resultId}
          columns={table.columns}
          rows={table.rows}
          onWantMore={isPart ? want : undefined}
        />
      )}
    </figure>
  )
}

/** The chart that a result is drawn as without anybody asking, where it has a shape for one. */
function useUnasked({ columns, rows, rowCount, truncated, source }: ShownTable, isWanted: boolean) {
  return useMemo((): ShownChart | undefined => {
    if (!isWanted || truncated || !source || rowCount > MAX_DRAWN) return undefined
    const data = toChartData(columns, rows)
    const spec = chartWorthSeeing(data)
    if (!spec) return undefined
    const title = chartTitle(spec)
    return { spec: { ...spec, description: title, data: { values: data.rows } }, title }
  }, [columns, rows, rowCount, truncated, source, isWanted])
}

const isSameSql = (a: ShownTable, b: ShownTable): boolean => a.source?.sql.trim() === b.source?.sql.trim()

function Notice({ isWarning = false, children }: { readonly isWarning?: boolean; readonly children: ReactNode }) {
  const tone = isWarning ? "bg-warn-soft text-xs text-warn" : "text-sm text-soft"
  return <p className={`border-b border-line px-3 py-1.5 ${tone}`}>{children}</p>
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

/** The server writes the file, with everything that it has kept; formulas in cells are defused there. */
function CsvButton({ source: { connectionId, resultId } }: { readonly source: TableSource }) {
  const save = async () =>
    saveFile(`${resultId}.csv`, await client.exportResult({ params: { id: connectionId, resultId } }))
  return (
    <Button look="quiet" small onClick={() => void attempt(save)}>
      <Download className="size-3.5" /> CSV
    </Button>
  )
}
