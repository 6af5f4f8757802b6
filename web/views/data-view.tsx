import { Suspense } from "react"
import { ErrorBoundary } from "../parts/error-boundary.tsx"
import { Json } from "../parts/json.tsx"
import { views } from "./views.ts"

/** What a tool gave back for views: drawn by the view of its kind, or as JSON where there is none. */
export function DataView({ data }: { readonly data: unknown }) {
  const found = find(data)
  const folded = (
    <details className="text-sm text-soft">
      <summary className="w-fit rounded-lg px-2 py-1 hover:bg-sunken">Data</summary>
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

/** Whether it is what was asked for. What only leads there, such as passages that were found, is folded with its call. */
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
