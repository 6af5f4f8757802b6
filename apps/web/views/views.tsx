import { lazy } from "react"
import { type MessageFile, type ViewName, filesIn } from "../../../core/protocol/index.ts"
import { Changes } from "../changes/changes.tsx"
import { Markdown } from "../markdown/markdown.tsx"
import { escapeHidden } from "../../../client/index.ts"
import { MessageFiles } from "../components/file-chip.tsx"
import { Plain } from "../components/plain.tsx"
import { withStrings } from "../strings/language.ts"
import { type View, defineView } from "./define-view.ts"
import type { ShownChart } from "./result-card.tsx"
import { type ShownTable, toTable } from "./shown-table.ts"
import { sourcesView } from "./sources-view.tsx"

/** Loaded with the first result, because most conversations have none. */
const ResultCard = lazy(async () => ({
  default: (await withStrings(() => import("./result-card.tsx"))).ResultCard,
}))

/** `{ kind: "table", columns, rows, rowCount?, truncated?, warnings?, connectionId?, resultId?, sql? }`: rows as lists or as objects. */
const tableView = defineView<ShownTable>({ kind: "table", read: toTable, Draw: ResultCard })

interface Chart {
  readonly chart: ShownChart
  /** The rows of the chart. */
  readonly table: ShownTable
}

/** `{ kind: "chart", spec, sql, resultId, connectionId, columns?, rowCount?, truncated? }`: a result with the chart that a tool drew of it. */
const chartView = defineView<Chart>({
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

/** The rows inside a chart, with the columns of the result unless the chart renamed one. */
function rowsOf({ data }: ShownChart["spec"], columns: unknown) {
  const values = isFields(data) && Array.isArray(data.values) ? (data.values as unknown[]).filter(isFields) : []
  const names = Object.keys(values[0] ?? {})
  const known = Array.isArray(columns) ? columns.filter(isFields) : []
  const isSame = known.length === names.length && known.every(({ name }) => names.includes(String(name)))
  return { columns: isSame ? known : names.map((name) => ({ name, type: null })), rows: values }
}

function titleOf({ title, description }: ShownChart["spec"]): string {
  const text = isFields(title) ? title.text : title
  const words = [text, description].find((each) => typeof each === "string" && each.trim() !== "")
  return typeof words === "string" ? words.slice(0, 200) : ""
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

interface Before {
  readonly before: unknown
  readonly after: unknown
}

/** `{ kind: "diff", before, after }`: a value before and after a change. */
const diffView = defineView<Before>({
  kind: "diff",
  read: (data) => ("before" in data && "after" in data ? { before: data.before, after: data.after } : undefined),
  Draw: ({ data }) => (
    <div className="my-2 rounded-xl border border-line bg-surface px-4 py-3">
      <Changes diff={data} />
    </div>
  ),
})

/** `{ kind: "files", files }`: files of a result, each with a button to save it; images with a preview. */
const filesView = defineView<readonly MessageFile[]>({
  kind: "files",
  read: (data) => {
    const files = filesIn(data)
    return files.length > 0 ? files : undefined
  },
  Draw: ({ data }) => <MessageFiles files={data} isResult />,
})

/** `{ kind: "markdown", text }`: drawn like a reply; nothing in it can run. */
const markdownView = defineView<string>({
  kind: "markdown",
  read: ({ text }) => (typeof text === "string" ? text : undefined),
  Draw: ({ data }) => (
    <div className="my-2 rounded-xl border border-line bg-surface px-4 py-3">
      <Markdown text={escapeHidden(data)} />
    </div>
  ),
})

/** `{ kind: "text", text }`: exactly these characters. */
const textView = defineView<string>({
  kind: "text",
  read: ({ text }) => (typeof text === "string" ? text : undefined),
  Draw: ({ data }) => (
    <pre
      tabIndex={0}
      className="my-2 max-h-96 overflow-auto rounded-xl border border-line bg-surface px-4 py-3 font-mono text-[13px] whitespace-pre-wrap [overflow-wrap:anywhere]"
    >
      <Plain text={data} />
    </pre>
  ),
})

/** By name, so that the compiler requires exactly the views that the protocol names. */
const byName: Readonly<Record<ViewName, View<unknown>>> = {
  table: tableView,
  chart: chartView,
  text: textView,
  markdown: markdownView,
  diff: diffView,
  sources: sourcesView,
  files: filesView,
}

/** All views. A new kind needs a file, a line above and a name in the protocol. */
export const views: readonly View<unknown>[] = Object.values(byName)
