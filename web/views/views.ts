import { chartView } from "./chart-view.tsx"
import type { View } from "./define-view.ts"
import { diffView } from "./diff-view.tsx"
import { sourcesView } from "./sources-view.tsx"
import { tableView } from "./table-view.tsx"
import { textView } from "./text-view.tsx"

/** The registry: a result's `data.kind` → the file that draws it. A new kind is a file and a line. */
export const views: readonly View<unknown>[] = [tableView, chartView, textView, diffView, sourcesView]
