import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react"
import { escapeHidden, hasCode } from "../../../client/index.ts"
import { automaticChart, chartedColumns, toChartData } from "../../../packs/analyst/chart-spec/index.ts"
import { ChartFrame, type Outcome } from "../chart/chart-frame.tsx"
import type { Format } from "../chart/messages.ts"
import { markChanged, useIsOutdated } from "../chart/outdated-results.ts"
import { ChartColumn, Code, Download, Table } from "../components/icons.tsx"
import { Button } from "../components/button.tsx"
import { attempt, explain } from "../components/explain.ts"
import { Plain } from "../components/plain.tsx"
import { saveFile } from "../components/file-chip.tsx"
import { client } from "../state/client.ts"
import { noticeSignOut } from "../state/identity.ts"
import { useDark } from "../state/theme.ts"
import { toast } from "../state/toasts.ts"
import { rich, t } from "../strings/strings.ts"
import { DataTable } from "./data-table.tsx"
import { type ShownTable, type TableSource, toTable } from "./shown-table.ts"
import { SqlPanel } from "./sql-panel.tsx"

export interface ShownChart {
  readonly spec: Readonly<Record<string, unknown>>
  /** Empty if the chart has none. */
  readonly title: string
}

interface ResultCardProps {
  readonly data: ShownTable
  /** The chart that a tool drew. Without one, a chart is drawn if the result suits one. */
  readonly chart?: ShownChart | undefined
}

/** Results with more rows get no automatic chart. */
const MAX_DRAWN = 2000

/**
 * A result: as a chart if it suits one, as a table, as a file, and with its SQL. The SQL stands above the rows, so that it
 * does not move when it is edited and run again.
 */
export function ResultCard({ data, chart: given }: ResultCardProps) {
  const [own, setOwn] = useState<ShownTable>()
  const [isSqlOpen, setSqlOpen] = useState(false)
  const [asTable, setAsTable] = useState(false)
  const [outcome, setOutcome] = useState<Outcome>({ is: "drawing" })
  const dark = useDark()
  const { table, want, isLoading, problem } = useAllRows(own ?? data)
  const isPart = table.rows.length < table.rowCount
  const automatic = useAutomaticChart(table, own !== undefined || given === undefined)
  const chart = own || !given ? automatic : given
  const title = chart?.title || t("views.chart")
  const wantsAll = chart !== undefined && chart === automatic && isPart
  useEffect(() => {
    if (wantsAll) want()
  }, [wantsAll, want])
  const isOutdated = useIsOutdated(data.source?.resultId ?? "") && given !== undefined && !own
  const failed = outcome.is === "failed" ? outcome.reason : undefined
  const isDrawn = chart !== undefined && !wantsAll && !asTable && failed === undefined
  const show = (shown: ShownTable | undefined) => {
    setOwn(shown)
    setOutcome({ is: "drawing" })
    // Charts that other cards drew from these rows are now out of date.
    if (data.source) markChanged(data.source.resultId, shown !== undefined && !isSameSql(shown, data))
  }
  const save = (format: Format) =>
    attempt(async () => {
      if (outcome.is === "drawn")
        await saveChart(await outcome.save(format), format, chart?.title || t("views.chartFile"))
    })
  return (
    <figure
      className="my-2 overflow-hidden rounded-xl border border-line bg-surface"
      aria-label={escapeHidden(chart ? title : t("views.result"))}
    >
      {own && (
        <div className="flex flex-wrap items-center gap-2 border-b border-line bg-accent-soft px-3 py-1 text-[13px] text-accent">
          <p className="flex-1">{t("views.ownResult")}</p>
          <Button small look="quiet" onClick={() => show(undefined)}>
            {t("views.backToOriginal")}
          </Button>
        </div>
      )}
      {isOutdated && <Notice isWarning>{t("views.outdated")}</Notice>}
      {table.warnings.map((warning, index) => (
        <Notice key={index} isWarning>
          <Plain text={warning} />
        </Notice>
      ))}
      {failed !== undefined && chart === given && (
        <Notice>{rich("views.notDrawn", { reason: <Plain text={failed} /> })}</Notice>
      )}
      <figcaption className="flex min-h-10 flex-wrap items-center gap-x-1 border-b border-line py-0.5 pr-1.5 pl-3 text-xs text-faint max-sm:justify-end">
        <span role="status" className="basis-full pt-1 sm:flex-1 sm:basis-0 sm:py-1">
          {[
            t("views.rows", { count: table.rowCount }),
            table.truncated && t("views.more"),
            table.timeZone && t("views.timeZone", { zone: table.timeZone }),
            isPart && !isDrawn && !isLoading && !problem && t("views.firstShown", { count: table.rows.length }),
            isLoading && t("views.loadingRest"),
          ]
            .filter(Boolean)
            .join(" · ")}
        </span>
        {problem && <span className="text-warn">{problem}</span>}
        {isPart && !isDrawn && !isLoading && (
          <Button small look="quiet" onClick={want}>
            {t("views.showAll")}
          </Button>
        )}
        {chart && failed === undefined && (
          <Button small look="quiet" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
            {asTable ? <ChartColumn className="size-4" /> : <Table className="size-4" />}
            {asTable ? t("views.chart") : t("views.table")}
          </Button>
        )}
        {data.source && (
          <Button small look="quiet" aria-expanded={isSqlOpen} onClick={() => setSqlOpen(!isSqlOpen)}>
            <Code className="size-4" /> SQL
          </Button>
        )}
        {isDrawn && <SaveButton format="png" disabled={outcome.is !== "drawn"} onSave={save} />}
        {isDrawn && <SaveButton format="svg" disabled={outcome.is !== "drawn"} onSave={save} />}
        {table.source && <CsvButton table={table} source={table.source} />}
      </figcaption>
      {isSqlOpen && data.source && (
        <SqlPanel sql={table.source?.sql ?? data.source.sql} connectionId={data.source.connectionId} onResult={show} />
      )}
      {isDrawn ? (
        <ChartFrame
          key={table.source?.resultId}
          spec={chart.spec}
          title={escapeHidden(t("views.chartOf", { title }))}
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

/** The chart that is drawn without a request, if the result suits one. */
function useAutomaticChart({ columns, rows, rowCount, truncated, source }: ShownTable, isWanted: boolean) {
  return useMemo((): ShownChart | undefined => {
    if (!isWanted || truncated || !source || rowCount > MAX_DRAWN) return undefined
    const data = toChartData(columns, rows)
    const spec = automaticChart(data)
    if (!spec) return undefined
    const title = t("views.chartBy", chartedColumns(spec))
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
    <Button
      look="quiet"
      small
      aria-label={t("views.saveAs", { format: name })}
      disabled={disabled}
      onClick={() => onSave(format)}
    >
      <Download className="size-4" /> {name}
    </Button>
  )
}

/** The server writes the file from the rows it stored and escapes formulas in cells. */
function CsvButton({ table, source }: { readonly table: ShownTable; readonly source: TableSource }) {
  const { connectionId, resultId } = source
  const save = async () => {
    const { rowCount, truncated } = table
    const name = truncated ? t("views.partName", { name: resultId, count: String(rowCount) }) : resultId
    await saveFile(`${name}.csv`, await client.exportResult({ params: { id: connectionId, resultId } }))
    if (truncated) toast(t("views.csvPart", { count: rowCount }))
  }
  return (
    <Button look="quiet" small onClick={() => void attempt(save)}>
      <Download className="size-3.5" /> CSV
    </Button>
  )
}

/** Saves a chart as a file. An SVG is cleaned first, because a browser opens it as a document of its own. */
const saveChart = async (bytes: ArrayBuffer, format: Format, name: string): Promise<void> =>
  saveFile(`${name.replaceAll(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60) || "chart"}.${format}`, await toBlob(bytes, format))

async function toBlob(bytes: ArrayBuffer, format: Format): Promise<Blob> {
  if (format === "png") return new Blob([bytes], { type: "image/png" })
  const { cleanSvg } = await import("../chart/clean-svg.ts")
  const svg = cleanSvg(new TextDecoder().decode(bytes))
  if (!svg) throw new Error("The chart could not be saved.")
  return new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" })
}

interface Whole {
  readonly table: ShownTable
  /** Loads the remaining rows. Repeated calls do nothing. */
  readonly want: () => void
  readonly isLoading: boolean
  readonly problem: string | undefined
}

/** A table with its first rows loaded; the others are on the server. */
function useAllRows(given: ShownTable): Whole {
  const [whole, setWhole] = useState<{ readonly of: ShownTable; readonly table: ShownTable | undefined }>()
  const [isLoading, setLoading] = useState(false)
  const [problem, setProblem] = useState<string>()
  const asked = useRef<ShownTable>(undefined)
  // A new table starts without the error of the previous one.
  useEffect(() => setProblem(undefined), [given])
  const want = useCallback(() => {
    const { source, rows, rowCount } = given
    if (asked.current === given || !source || rows.length >= rowCount) return
    asked.current = given
    setLoading(true)
    const params = { id: source.connectionId, resultId: source.resultId }
    client
      .readResult({ params })
      .then((found) => {
        setWhole({ of: given, table: toTable({ ...found, ...source, rowCount: found.rows.length }) })
      })
      .catch((error: unknown) => {
        noticeSignOut(error)
        const isGone = hasCode(error, "result_expired") || hasCode(error, "not_found")
        // Rows that expired stay gone; after any other error the caller may retry.
        if (!isGone) asked.current = undefined
        setProblem(isGone ? t("views.expired") : explain(error))
      })
      .finally(() => setLoading(false))
  }, [given])
  return { table: (whole?.of === given ? whole.table : undefined) ?? given, want, isLoading, problem }
}
