import type { ViewName } from "../../src/protocol/index.ts"
import { chartView } from "./chart-view.tsx"
import type { View } from "./define-view.ts"
import { diffView } from "./diff-view.tsx"
import { filesView } from "./files-view.tsx"
import { markdownView } from "./markdown-view.tsx"
import { sourcesView } from "./sources-view.tsx"
import { tableView } from "./table-view.tsx"
import { textView } from "./text-view.tsx"

/** By name, so that the compiler asks for every view that packs are told of, and for no other. */
const byName: Readonly<Record<ViewName, View<unknown>>> = {
  table: tableView,
  chart: chartView,
  text: textView,
  markdown: markdownView,
  diff: diffView,
  sources: sourcesView,
  files: filesView,
}

/** The registry: a result's `data.kind` → the file that draws it. A new kind is a file and a line, and its name in the protocol. */
export const views: readonly View<unknown>[] = Object.values(byName)
