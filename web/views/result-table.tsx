import { Download } from "lucide-react"
import { useState } from "react"
import { markChanged } from "../chart/newest-result.ts"
import { Button } from "../parts/button.tsx"
import { count } from "../parts/words.ts"
import { base } from "../state/base.ts"
import { DataTable } from "./data-table.tsx"
import { SqlPanel } from "./sql-panel.tsx"
import type { ShownTable, TableSource } from "./table-view.tsx"
import { useWholeResult } from "./use-whole-result.ts"

/** A result: its rows, all of them when they are wanted, as a file, and the SQL it came from, to be changed and run again. */
export function ResultTable({ data }: { readonly data: ShownTable }) {
  const [own, setOwn] = useState<ShownTable>()
  const shown = own ?? data
  const show = (table: ShownTable | undefined) => {
    setOwn(table)
    // What was drawn from these rows is not about what is shown here any more.
    if (data.source) markChanged(data.source.resultId, table !== undefined)
  }
  return (
    <figure className="my-2 overflow-hidden rounded-xl border border-line bg-surface">
      {own && (
        <div className="flex flex-wrap items-center gap-2 border-b border-line bg-accent-soft px-3 py-1 text-[13px] text-accent">
          <p className="flex-1">You ran this yourself. The assistant has not seen it.</p>
          <Button small look="quiet" onClick={() => show(undefined)}>
            Back to what it found
          </Button>
        </div>
      )}
      <Rows key={shown.source?.resultId} data={shown} />
      {data.source && shown.source && (
        <SqlPanel
          key={shown.source.sql}
          sql={shown.source.sql}
          connectionId={data.source.connectionId}
          onResult={show}
        />
      )}
    </figure>
  )
}

function Rows({ data }: { readonly data: ShownTable }) {
  const { table, want, isLoading, problem } = useWholeResult(data)
  const { columns, rows, rowCount, truncated, source } = table
  const isPart = rows.length < rowCount
  return (
    <>
      <DataTable columns={columns} rows={rows} onWantMore={isPart ? want : undefined} />
      <figcaption className="flex min-h-9 flex-wrap items-center gap-x-3 gap-y-1 border-t border-line px-3 py-0.5 text-xs text-faint">
        <span role="status" className="flex-1">
          {count(rowCount, "row")}
          {truncated && ", and there are more"}
          {isPart && !isLoading && !problem && `, the first ${rows.length.toLocaleString("en")} shown`}
          {isLoading && ", loading the others …"}
        </span>
        {problem && <span className="text-warn">{problem}</span>}
        {isPart && !isLoading && (
          <Button small look="quiet" onClick={want}>
            Show all
          </Button>
        )}
        {source && <CsvLink source={source} />}
      </figcaption>
    </>
  )
}

/** The server writes the file, with everything that it has kept; formulas in cells are defused there. */
function CsvLink({ source: { connectionId, resultId } }: { readonly source: TableSource }) {
  const path = `/api/connections/${encodeURIComponent(connectionId)}/results/${encodeURIComponent(resultId)}.csv`
  return (
    <a
      href={base + path}
      download={`${resultId}.csv`}
      className="inline-flex h-8 items-center gap-1.5 rounded-lg px-2.5 text-[13px] font-medium text-soft hover:bg-sunken hover:text-ink"
    >
      <Download className="size-3.5" /> CSV
    </a>
  )
}
