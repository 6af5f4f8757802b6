import { Suspense } from "react"
import { ErrorBoundary } from "../components/use-loaded.tsx"
import { Json } from "../components/plain.tsx"
import { views } from "./views.tsx"
import { t } from "../strings/strings.ts"

/** The data of a tool result, drawn by the view of its kind, or as JSON if there is none. */
export function DataView({ data }: { readonly data: unknown }) {
  const found = find(data)
  const folded = (
    <details className="text-sm text-soft">
      <summary className="w-fit rounded-lg px-2 py-1 hover:bg-sunken">{t("views.data")}</summary>
      <Json value={data} />
    </details>
  )
  if (!found) return folded
  const { Draw } = found.view
  return (
    <ErrorBoundary instead={folded}>
      <Suspense fallback={<div className="my-2 h-40 rounded-xl border border-line bg-surface" />}>
        <Draw data={found.read} />
      </Suspense>
    </ErrorBoundary>
  )
}

export const hasView = (data: unknown): boolean => find(data) !== undefined

/** False for data that only supports the reply, such as passages that were found: it is folded with its tool call. */
export function isShownAtOnce(data: unknown): boolean {
  const found = find(data)
  return found !== undefined && !found.view.isFolded
}

function find(data: unknown) {
  if (typeof data !== "object" || data === null) return undefined
  const fields = data as Readonly<Record<string, unknown>>
  const view = views.find(({ kind }) => kind === fields.kind)
  const read = view?.read(fields)
  return view && read !== undefined ? { view, read } : undefined
}
